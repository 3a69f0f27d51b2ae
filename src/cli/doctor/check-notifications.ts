import type pg from 'pg';
import type { Config } from '../../config/config.ts';
import { readFigures } from '../../notifications/dispatch/read-figures.ts';
import {
  hasMailDestination,
  type TroubledDestination,
  troubledDestinations,
} from '../../notifications/dispatch/troubled-destinations.ts';
import type { Diagnosis } from './diagnosis.ts';

// A service looks for due deliveries several times a second. After five minutes none is running, or it is far behind.
const LATE_SECONDS = 300;
const MOST_NAMED = 5;

/** Checks that notifications are sent: a service does so, e-mail is set up, and no destination is disabled, fails, is behind its log or waits for its digest. */
export async function checkNotifications(
  config: Pick<Config, 'smtpUrl'>,
  writer: pg.Pool,
): Promise<Diagnosis> {
  const about = 'notifications';
  const { oldestDueSeconds: late, queued } = await readFigures(writer);
  if (late > LATE_SECONDS) {
    const message = `A notification has been due for ${Math.round(late / 60)} min, and ${queued} are queued.`;
    return { about, status: 'error', message, remedy: 'Start a service: "dbvitals serve" sends them.' };
  }
  if (config.smtpUrl === null && (await hasMailDestination(writer))) {
    const message = 'There are e-mail destinations, but no mail server: e-mail is not sent.';
    return { about, status: 'error', message, remedy: 'Set DBVITALS_SMTP_URL and DBVITALS_MAIL_FROM.' };
  }
  const troubled = await troubledDestinations(writer);
  if (troubled.length === 0)
    return {
      about,
      status: 'ok',
      message: 'No destination is disabled, fails or is behind the log.',
      remedy: null,
    };
  const more = troubled.length > MOST_NAMED ? ` And ${troubled.length - MOST_NAMED} more.` : '';
  return {
    about,
    status: 'warning',
    message: troubled.slice(0, MOST_NAMED).map(sentence).join(' ') + more,
    remedy:
      'Fix the receiver. Enable a disabled destination with "dbvitals destination enable", all after a restore with "--all".',
  };
}

function sentence({
  account_id,
  name,
  state,
  state_reason,
  failing_since,
  last_result,
  behind_entries,
  behind_seconds,
  digest_late_since,
}: TroubledDestination): string {
  const who = `Destination "${name}" of account ${account_id}`;
  const lag = behind_entries
    ? ` It is ${behind_entries} entries and ${minutes(behind_seconds)} behind the log.`
    : '';
  if (state !== 'enabled') return `${who} is ${state}: ${state_reason ?? 'no reason is known.'}${lag}`;
  if (failing_since !== null)
    return `${who} has failed since ${failing_since.toISOString()}: ${last_result}${lag}`;
  if (digest_late_since !== null)
    return `${who} has not got the digest that was due at ${digest_late_since.toISOString()}: the log of the service says why.`;
  return `${who} is a log stream that falls behind: its receiver is slow.${lag}`;
}

const minutes = (seconds: number | null) => `${Math.round((seconds ?? 0) / 60)} min`;
