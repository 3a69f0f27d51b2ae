import type { Check } from '../../checks/check.ts';
import { cleanText } from '../clean-text.ts';
import type { Sample } from '../outcome.ts';
import { describeError, isTimeout, refusalOf } from '../session/connect-failure.ts';
import type { RunFacts } from '../session/engine.ts';

type Place = Pick<RunFacts, 'version' | 'me'> & { database: string };

const REASONS = { timeout: 'it took more than 5 s', locked: 'an object that it reads is locked' };

/** The sample of a check that could not be measured in a database, or on the server (`database` is ''). */
export function failedSample({ privilege }: Check, { database, version, me }: Place, error: unknown): Sample {
  const refusal = refusalOf(error);
  if (refusal === 'denied' && privilege && me !== undefined) {
    const grants = [privilege(version)].flat().map((what) => `GRANT ${what} TO ${me};`);
    const grant = grants.join(' ');
    return { database, judgement: { skipped: 'Not measured: the login lacks a privilege.', grant } };
  }
  const { message } = describeError(error);
  const known = refusal === 'denied' || refusal === null ? undefined : REASONS[refusal];
  const reason = known ?? (isTimeout(error) ? 'its time limit was reached' : cleanText(message, 300));
  const failed = `${database === '' ? '' : `Database ${database}: `}Not measured: ${reason}.`;
  return { database, failed, status: refusal === 'denied' ? 'skipped' : 'error' };
}
