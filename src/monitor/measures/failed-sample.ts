import type { Check } from '../../checks/check.ts';
import { cleanText } from '../../vocabulary/clean-text.ts';
import { PROVIDER_NAMES } from '../../vocabulary/hosted/providers.ts';
import type { Sample } from '../outcome.ts';
import type { RunFacts } from '../session/engine.ts';
import { describeError, isTimeout, refusalOf } from '../session/failures/connect-failure.ts';
import { NoAnswer } from '../session/session.ts';

type Place = Pick<RunFacts, 'version' | 'me'> & Partial<Pick<RunFacts, 'provider'>> & { database: string };

const REASONS = { timeout: 'it took more than 5 s', locked: 'an object that it reads is locked' };

// What a provider takes out of the server: SQLSTATEs of functions and tables of PostgreSQL, error numbers of MySQL.
const LACKING = new Set(['0A000', '42883', '42P01', '1109', '1146', '1193', '1235', '1305', '1370']);

/** The run ended before all checks were measured. */
export class RunEnded extends Error {}

/** The sample of a check that could not be measured in a database, or on the server (`database` is ''). */
export function failedSample(
  { privilege }: Check,
  { database, version, me, provider }: Place,
  error: unknown,
): Sample {
  const refusal = refusalOf(error);
  const { message } = describeError(error);
  if (provider && LACKING.has(describeError(error).code)) {
    const skipped = `Not measured: ${PROVIDER_NAMES[provider]} does not offer what this check reads (${cleanText(message, 200)}).`;
    return { database, judgement: { skipped } };
  }
  if (refusal === 'denied' && privilege && me !== undefined) {
    const grants = [privilege(version)].flat().map((what) => `GRANT ${what} TO ${me};`);
    const grant = grants.join(' ');
    return { database, judgement: { skipped: 'Not measured: the login lacks a privilege.', grant } };
  }
  const known = refusal === 'denied' || refusal === null ? undefined : REASONS[refusal];
  const reason = known ?? (isTimeout(error) ? 'its time limit was reached' : cleanText(message, 300));
  const failed = `${database === '' ? '' : `Database ${database}: `}Not measured: ${reason}.`;
  if (refusal === 'denied') return { database, failed, status: 'skipped' };
  const outOfTime =
    refusal === 'timeout' || isTimeout(error) || error instanceof NoAnswer || error instanceof RunEnded;
  return { database, failed, status: 'error', ...(outOfTime && { outOfTime }) };
}
