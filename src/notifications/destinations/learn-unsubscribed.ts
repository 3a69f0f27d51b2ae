import type pg from 'pg';
import type { Logger } from 'pino';
import { type Rounds, startRounds } from '../../platform/rounds.ts';
import { controlPoolOf } from '../../store/cells/control-store.ts';
import { errorFields } from '../../store/store-failure.ts';
import { unsubscribeFromAccount } from '../recipients/unsubscribed.ts';

// A person who unsubscribes is unsubscribed at once from what can be reached. A cell that was down learns it here when it is back.

const EVERY_MS = 10_000;

/** How many addresses are compared at a time. */
const BATCH = 1_000;

/** Looks back from the newest one that is known: a transaction may commit after one that began later. */
const OVERLAP = '1 minute';

/** All are compared again so often: an account may have come from a cell that had not learned them. */
const AGAIN_MS = 3_600_000;

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

/** Where to go on in the list of those who unsubscribed. */
interface Place {
  since: string;
  hash: Buffer;
}

const BEGIN: Place = { since: '-infinity', hash: Buffer.alloc(0) };

/**
 * Unsubscribes in a cell whoever has unsubscribed since `from`, by the control store's list. Returns the new place. An account
 * whose change fails does not keep the others from theirs; the error is thrown at the end.
 */
async function learnUnsubscribed(writer: pg.Pool, control: pg.Pool, from: Place): Promise<Place> {
  const failures: unknown[] = [];
  let back = OVERLAP;
  for (let place = { ...from, hash: BEGIN.hash }; ; back = '0') {
    const { rows } = await control.query<Unsubscribed>(selectNew, [place.since, place.hash, back]);
    const listed = await writer.query<{ account_id: number; email: string; since: string }>(
      selectSubscribed,
      [rows.map(({ email_hash }) => email_hash), rows.map(({ since }) => since)],
    );
    for (const { account_id, email, since } of listed.rows)
      await unsubscribeFromAccount(writer, account_id, email, since).catch((error) => failures.push(error));
    const last = rows.at(-1);
    if (last) place = { since: last.since, hash: last.email_hash };
    if (rows.length < BATCH) {
      if (failures.length > 0) throw failures[0];
      return place;
    }
  }
}

/** Runs {@link learnUnsubscribed} every few seconds until stopped. */
export function startLearningUnsubscribed(
  writer: pg.Pool,
  log: Pick<Logger, 'error' | 'isLevelEnabled'>,
): Rounds {
  const control = controlPoolOf(writer) ?? writer;
  let place = BEGIN;
  let began = performance.now();
  const round = async () => {
    if (performance.now() - began > AGAIN_MS) [place, began] = [BEGIN, performance.now()];
    try {
      place = await learnUnsubscribed(writer, control, place);
    } catch (error) {
      log.error(errorFields(error, log), 'the cell could not learn who has unsubscribed');
    }
  };
  return startRounds(round, { first: 0, every: EVERY_MS });
}
