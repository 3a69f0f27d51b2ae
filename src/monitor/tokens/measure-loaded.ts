import { CONN_AUTH_FAILED } from '../../checks/connection-findings.ts';
import type { TokenCommands } from '../../config/token-commands.ts';
import type { LoadedRun } from '../load-run.ts';
import type { Measured } from '../measure.ts';
import { measureInChild, type RunListener } from '../measure-in-child.ts';
import { noTokenOutcome } from '../not-connected.ts';
import { forgetToken, mayReach, TokenFailed, tokenOf } from './token-command.ts';

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
    const password = await tokenFor(tokenSource, commands, job);
    const measured = await measureInChild(
      { ...job, target: { ...target, password, isToken: true } },
      signal,
      listener,
    );
    if (wasRefused(measured)) forgetToken(tokenSource, target);
    return measured;
  } catch (error) {
    if (!(error instanceof TokenFailed)) throw error;
    const cost = { milliseconds: 0, statements: 0, bytes: 0 };
    const outcomes = [noTokenOutcome(tokenSource, error.message)];
    return {
      outcomes,
      samples: [],
      measures: [],
      readings: [],
      queries: null,
      cost,
      hostKey: null,
      server: null,
      failure: null,
    };
  }
}

function tokenFor(source: string, commands: TokenCommands, { target }: LoadedRun['job']): Promise<string> {
  const command = Object.hasOwn(commands, source) ? commands[source] : undefined;
  if (!command) throw new TokenFailed('DBVITALS_TOKEN_COMMANDS_FILE has no token source of this name');
  if (target.tls !== 'verify-full')
    throw new TokenFailed('a token is sent over verified TLS only (--tls verify-full)');
  if (!mayReach(command, target.host)) throw new TokenFailed(`its "hosts" do not include ${target.host}`);
  return tokenOf(source, command, target);
}

function wasRefused({ outcomes }: Measured): boolean {
  return outcomes.some(
    ({ check, findings }) =>
      check.id === CONN_AUTH_FAILED.id && findings.some(({ status }) => status === 'critical'),
  );
}
