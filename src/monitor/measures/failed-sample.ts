import type { Check } from '../../checks/check.ts';
import { OwnWords } from '../../platform/text/own-words.ts';
import { PROVIDER_NAMES } from '../../vocabulary/hosted/providers.ts';
import { nameInSentence, type Sample } from '../outcome.ts';
import type { RunFacts } from '../session/engine-parts.ts';
import { causeOf, describeError, isTimeout, refusalOf } from '../session/failures/connect-failure.ts';
import { lackingPrivilege } from '../session/failures/lacking-privilege.ts';
import { NoAnswer } from '../session/session.ts';

type Place = Pick<RunFacts, 'version' | 'me'> & Partial<Pick<RunFacts, 'provider'>> & { database: string };

const REASONS = { timeout: 'it took more than 5 s', locked: 'an object that it reads is locked' };

// What a provider takes out of the server: SQLSTATEs of functions and tables of PostgreSQL, error numbers of MySQL.
const LACKING = new Set(['0A000', '42883', '42P01', '1109', '1146', '1193', '1235', '1305', '1370']);

/** The run ended before all checks were measured. */
export class RunEnded extends OwnWords {}

/** The GRANT statements after a server denied a statement; null if it did not, or nobody knows what to grant. */
export function grantFor(
  {
    privilege,
    version,
    me,
  }: {
    privilege?: Check['privilege'] | undefined;
    version: number;
    me?: string | undefined;
  },
  error: unknown,
  exact: readonly string[] | undefined,
): string | null {
  if (refusalOf(error) !== 'denied' || me === undefined) return null;
  const granted = [exact ?? privilege?.(version) ?? lackingPrivilege(error)].flat();
  return granted.length === 0 ? null : granted.map((what) => `GRANT ${what} TO ${me};`).join(' ');
}

/**
 * The sample of a check that could not be measured in a database, or on the server (`database` is ''). `exact` is what to
 * grant, if the server told (`exactPrivilege`).
 */
export function failedSample(
  { privilege }: Check,
  { database, version, me, provider }: Place,
  error: unknown,
  exact?: readonly string[],
): Sample {
  const refusal = refusalOf(error);
  if (provider && LACKING.has(describeError(error).code)) {
    const skipped = `Not measured: ${PROVIDER_NAMES[provider]} does not offer what this check reads (${causeOf(error, 200)}).`;
    return { database, judgement: { skipped } };
  }
  const grant = grantFor({ privilege, version, me }, error, exact);
  if (grant !== null) {
    return { database, judgement: { skipped: 'Not measured: the login lacks a privilege.', grant } };
  }
  const known = refusal === 'denied' || refusal === null ? undefined : REASONS[refusal];
  const reason = known ?? (isTimeout(error) ? 'its time limit was reached' : causeOf(error, 300));
  const failed = `${database === '' ? '' : `Database ${nameInSentence(database)}: `}Not measured: ${reason}.`;
  if (refusal === 'denied') return { database, failed, status: 'skipped' };
  const outOfTime =
    refusal === 'timeout' || isTimeout(error) || error instanceof NoAnswer || error instanceof RunEnded;
  const unreached = error instanceof RunEnded && { unreached: true as const };
  return { database, failed, status: 'error', ...(outOfTime && { outOfTime }), ...unreached };
}
