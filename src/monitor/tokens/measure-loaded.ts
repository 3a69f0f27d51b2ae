import { CONN_AUTH_FAILED } from '../../checks/connection-findings.ts';
import type { TokenCommands } from '../../config/token-commands.ts';
import { measureInChild, type RunListener } from '../children/measure-in-child.ts';
import type { LoadedRun } from '../load-run.ts';
import { type Measured, noTokenOutcome, nothingMeasured } from '../nothing-measured.ts';
import { forgetToken, TokenFailed, tokenFor } from './token-command.ts';

/**
 * Measures a loaded run in a child process. For a login by token, the operator's command runs here first, because the child
 * talks to strangers. Throws as `measureInChild` does.
 */
export async function measureLoaded(
  { job, tokenSource }: Pick<LoadedRun, 'job' | 'tokenSource'>,
  commands: TokenCommands,
  signal: AbortSignal,
  listener?: RunListener,
): Promise<Measured> {
  if (tokenSource === null) return measureInChild(job, signal, listener);
  const { target } = job;
  try {
    const password = await tokenFor(tokenSource, commands, target);
    const measured = await measureInChild(
      { ...job, target: { ...target, password, isToken: true } },
      signal,
      listener,
    );
    if (wasRefused(measured)) forgetToken(tokenSource, target);
    return measured;
  } catch (error) {
    if (!(error instanceof TokenFailed)) throw error;
    return nothingMeasured([noTokenOutcome(tokenSource, error.message)]);
  }
}

function wasRefused({ outcomes }: Measured): boolean {
  return outcomes.some(
    ({ check, findings }) =>
      check.id === CONN_AUTH_FAILED.id && findings.some(({ status }) => status === 'critical'),
  );
}
