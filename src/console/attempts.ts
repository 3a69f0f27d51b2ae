import { hash } from 'node:crypto';
import type pg from 'pg';
import { inTransaction } from '../database/connect.ts';
import { ConsoleError } from './errors.ts';

/** So many attempts to sign in may fail in the time: of one e-mail address, and from one client address. */
const OF_EMAIL = 10;
const OF_ADDRESS = 50;
const MINUTES = 15;

// Who guesses by IPv6 has 2^64 addresses: its network counts.
const ADDRESS = `(case family($1::inet) when 6 then network(set_masklen($1::inet, 64))::inet else $1::inet end)`;

// Any first number: locks of this kind. Taken in one order, so that none waits for another in a circle.
const lock = `
  select pg_advisory_xact_lock(5804, key)
    from (select hashtext(counted) as key from unnest(array[${ADDRESS}::text, encode($2, 'hex')]) counted order by 1) k`;

const count = `
  select count(*) filter (where email_hash = $2) as of_email,
         count(*) filter (where address = ${ADDRESS}) as of_address,
         ceil(extract(epoch from min(at) + interval '${MINUTES} minutes' - clock_timestamp()))::int as seconds
    from sign_in_failure
   where at > clock_timestamp() - interval '${MINUTES} minutes'
     and (address = ${ADDRESS} or email_hash = $2)`;

const insert = `
  insert into sign_in_failure (address, email_hash) values (${ADDRESS}, $2)
  returning failure_id`;

/**
 * Lets somebody prove who they are, and counts it as a failure unless `prove` gives something. It is counted before it is
 * looked at, so that a thousand guesses at once are ten too. Throws 429 when too many failed.
 */
export async function attempt<T>(
  writer: pg.Pool,
  { address, email }: { address: string; email: string },
  prove: () => Promise<T | null>,
): Promise<T | null> {
  const who = [address, hash('sha256', email.toLowerCase(), 'buffer')];
  const failure = await inTransaction(writer, async (client) => {
    await client.query(lock, who);
    const { rows } = await client.query<{ of_email: number; of_address: number; seconds: number | null }>(
      count,
      who,
    );
    const [failed] = rows;
    if (failed && (failed.of_email >= OF_EMAIL || failed.of_address >= OF_ADDRESS)) {
      const seconds = Math.max(failed.seconds ?? 1, 1);
      const minutes = seconds > 60 ? `${Math.ceil(seconds / 60)} minutes` : 'a minute';
      throw new ConsoleError(
        'too_many_attempts',
        `Too many attempts failed: try again in ${minutes}, or sign in with a passkey.`,
        { retryAfter: seconds },
      );
    }
    return (await client.query<{ failure_id: number }>(insert, who)).rows[0]?.failure_id ?? 0;
  });
  const proved = await prove();
  if (proved !== null) await writer.query('delete from sign_in_failure where failure_id = $1', [failure]);
  return proved;
}
