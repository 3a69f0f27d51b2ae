import type pg from 'pg';
import type { Logger } from 'pino';
import { type Rounds, startRounds } from '../../platform/rounds.ts';
import { controlPoolOf } from '../../store/cells/control-store.ts';
import { one } from '../../store/one.ts';
import { errorFields } from '../../store/store-failure.ts';
import { unsubscribeFromAccount } from '../recipients/unsubscribed.ts';

// An address is unsubscribed at once in the cells that can be reached. A cell that was down learns it here when it is back.

const EVERY_MS = 10_000;

/** How many addresses are compared at a time. */
const BATCH = 1_000;

/** Looks back from the last round: a transaction may commit after one that began later. */
const OVERLAP = '1 minute';

/** All are compared again so often: an account may have come from a cell that had not learned them. */
const AGAIN_MS = 3_600_000;

const selectNow = 'select clock_timestamp()::text as now';

const selectNew = `
  select email_hash, since::text
    from unsubscribed
   where (since, email_hash) > ($1::timestamptz - $3::interval, $2::bytea)
   order by unsubscribed.since, email_hash
   limit ${BATCH}`;

const selectSubscribed = `
  select distinct r.account_id, r.email, n.since::text
    from unnest($1::bytea[], $2::timestamptz[]) as n (email_hash, since)
    join destination_recipient r on sha256(convert_to(r.email, 'UTF8')) = n.email_hash
   where r.state <> 'unsubscribed' and r.removed_at is null
     and (r.confirmed_at is null or r.confirmed_at < n.since)`;

interface Unsubscribed {
  email_hash: Buffer;
  /** As PostgreSQL writes it, to the microsecond. */
  since: string;
}

/** Before all times. */
const EVER = '-infinity';

/**
 * Unsubscribes, in a cell, the addresses that the control store lists since `from`. Returns the time up to which the list is known. An
 * account whose change fails does not keep the others from theirs; the error is thrown at the end.
 */
async function learnUnsubscribed(writer: pg.Pool, control: pg.Pool, from: string): Promise<string> {
  const { now } = one((await control.query<{ now: string }>(selectNow)).rows, 'read the clock');
  const failures: unknown[] = [];
  let [since, back] = [from, OVERLAP];
  let hash: Buffer = Buffer.alloc(0);
  for (;;) {
    const { rows } = await control.query<Unsubscribed>(selectNew, [since, hash, back]);
    // The search reads all recipients of the cell, since they have no index by their hash: mostly nobody is new.
    const subscribed = rows.length === 0 ? [] : await findSubscribed(writer, rows);
    for (const { account_id, email, since } of subscribed)
      await unsubscribeFromAccount(writer, account_id, email, since).catch((error) => failures.push(error));
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) break;
    [since, hash, back] = [last.since, last.email_hash, '0'];
  }
  if (failures.length > 0) throw failures[0];
  return now;
}

interface Subscribed {
  account_id: number;
  email: string;
  since: string;
}

async function findSubscribed(writer: pg.Pool, listed: readonly Unsubscribed[]): Promise<Subscribed[]> {
  const { rows } = await writer.query<Subscribed>(selectSubscribed, [
    listed.map(({ email_hash }) => email_hash),
    listed.map(({ since }) => since),
  ]);
  return rows;
}

/** Runs {@link learnUnsubscribed} every few seconds until stopped. */
export function startLearningUnsubscribed(
  writer: pg.Pool,
  log: Pick<Logger, 'error' | 'isLevelEnabled'>,
): Rounds {
  const control = controlPoolOf(writer) ?? writer;
  let known = EVER;
  let began = performance.now();
  const round = async () => {
    if (performance.now() - began > AGAIN_MS) [known, began] = [EVER, performance.now()];
    try {
      known = await learnUnsubscribed(writer, control, known);
    } catch (error) {
      log.error(errorFields(error, log), 'the cell could not learn who has unsubscribed');
    }
  };
  return startRounds(round, { first: 0, every: EVERY_MS });
}
