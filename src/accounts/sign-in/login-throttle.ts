import { hash } from 'node:crypto';
import type pg from 'pg';
import { networkOf } from '../../platform/network/client-network.ts';
import { Rejection } from '../../platform/rejection.ts';
import { inTransaction } from '../../store/connect.ts';
import { one } from '../../store/one.ts';
import { foldEmail } from '../members/email.ts';

/**
 * The failed attempts allowed in {@link MINUTES}: on a known device, for one e-mail from one IP address, and from one IP
 * address.
 */
const OF_DEVICE = 10;
const OF_EMAIL_AND_ADDRESS = 10;
const OF_ADDRESS = 50;
const MINUTES = 15;
/** The failed attempts allowed in an hour for one e-mail from all IP addresses, on unknown devices. */
const OF_EMAIL = 50;

// The first number is arbitrary: it stands for this kind of lock. Locks are taken in one order to prevent deadlocks.
const lock = `
  select pg_advisory_xact_lock(5804, key)
    from (select hashtext(counted) as key
            from unnest(array[$1::text, encode($2::bytea, 'hex'), encode($3::bytea, 'hex')]) counted
           where counted is not null
           order by 1) k`;

const count = `
  with failed as (
    select at, address = $1 as here, email_hash = $2 as of_email,
           at > clock_timestamp() - interval '${MINUTES} minutes' as lately
      from sign_in_failure
     where device is null
       and at > clock_timestamp() - interval '1 hour'
       and (address = $1 or email_hash = $2)
  )
  select count(*) filter (where here and lately) >= ${OF_ADDRESS} as of_address,
         count(*) filter (where here and of_email and lately) >= ${OF_EMAIL_AND_ADDRESS} as of_pair,
         count(*) filter (where of_email) >= ${OF_EMAIL} as of_email,
         ceil(extract(epoch from min(at) filter (where here and lately)
                                   + interval '${MINUTES} minutes' - clock_timestamp()))::int as address_seconds,
         ceil(extract(epoch from min(at) filter (where here and of_email and lately)
                                   + interval '${MINUTES} minutes' - clock_timestamp()))::int as pair_seconds,
         ceil(extract(epoch from min(at) filter (where of_email)
                                   + interval '1 hour' - clock_timestamp()))::int as email_seconds
    from failed`;

const countOfDevice = `
  select count(*) >= ${OF_DEVICE} as of_device,
         ceil(extract(epoch from min(at) + interval '${MINUTES} minutes' - clock_timestamp()))::int as seconds
    from sign_in_failure
   where device = $1 and at > clock_timestamp() - interval '${MINUTES} minutes'`;

const insert = `
  insert into sign_in_failure (address, email_hash, device) values ($1, $2, $3)
  returning failure_id`;

const forget = 'delete from sign_in_failure where failure_id = any ($1)';

/** The source of an attempt; `device` is a known device's hash, null = unknown. */
interface Source {
  address: string;
  email: string;
  device: Buffer | null;
}

/** Which budgets still allow the attempt: that of the known device, and that of the IP address. */
interface Allowed {
  asDevice: boolean;
  asAnybody: boolean;
}

/** With `isGuess`, the attempt also counts as a failed guess at other logins. */
interface Proved<T> {
  value: T;
  isGuess: boolean;
}

/**
 * Runs `prove` if the budgets allow it, and counts a failure unless it returns a value. The attempt is counted before it
 * is verified, so that a thousand simultaneous guesses are limited too. A known device has its own budget, which nobody
 * else can use up. Throws 429 after too many failures.
 */
export async function throttledLogin<T>(
  writer: pg.Pool,
  { address, email, device }: Source,
  prove: (allowed: Allowed) => Promise<Proved<T> | null>,
): Promise<T | null> {
  const who = [networkOf(address), hash('sha256', foldEmail(email), 'buffer'), device];
  const { ofDevice, ofAnybody } = await inTransaction(writer, async (client) => {
    await client.query(lock, who);
    const [network, of, at] = who;
    const waits = { device: await deviceWait(client, at), anybody: await anybodyWait(client, [network, of]) };
    if (waits.device !== null && waits.anybody !== null) {
      throw tooMany(Math.max(Math.min(waits.device, waits.anybody), 1));
    }
    const counted = async (known: unknown) => {
      const { rows } = await client.query<{ failure_id: number }>(insert, [network, of, known]);
      return one(rows, 'count an attempt').failure_id;
    };
    return {
      ofDevice: waits.device === null ? await counted(at) : null,
      ofAnybody: waits.anybody === null ? await counted(null) : null,
    };
  });
  const proved = await prove({ asDevice: ofDevice !== null, asAnybody: ofAnybody !== null });
  if (proved === null) return null;
  await writer.query(forget, [proved.isGuess ? [ofDevice] : [ofDevice, ofAnybody]]);
  return proved.value;
}

/** Seconds to wait; null = none. An unknown device has no budget, so it waits forever. */
async function deviceWait(client: pg.ClientBase, device: unknown): Promise<number | null> {
  if (device === null) return Number.POSITIVE_INFINITY;
  const { rows } = await client.query<{ of_device: boolean; seconds: number }>(countOfDevice, [device]);
  const { of_device, seconds } = one(rows, 'count the failures of a device');
  return of_device ? Math.min(seconds, MINUTES * 60) : null;
}

async function anybodyWait(client: pg.ClientBase, who: unknown[]): Promise<number | null> {
  const { rows } = await client.query<{
    of_address: boolean;
    of_pair: boolean;
    of_email: boolean;
    address_seconds: number;
    pair_seconds: number;
    email_seconds: number;
  }>(count, who);
  const failed = one(rows, 'count the failures of anybody');
  const waits = [
    failed.of_address ? Math.min(failed.address_seconds, MINUTES * 60) : null,
    failed.of_pair ? Math.min(failed.pair_seconds, MINUTES * 60) : null,
    failed.of_email ? Math.min(failed.email_seconds, 3_600) : null,
  ].filter((seconds) => seconds !== null);
  return waits.length === 0 ? null : Math.max(...waits);
}

function tooMany(seconds: number): Rejection {
  const minutes = seconds > 60 ? `${Math.ceil(seconds / 60)} minutes` : 'a minute';
  return new Rejection(
    'too_many_attempts',
    `Too many failed attempts. Try again in ${minutes}, or sign in with a passkey.`,
    { retryAfter: seconds },
  );
}
