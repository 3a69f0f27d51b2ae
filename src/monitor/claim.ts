import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { one } from '../database/one.ts';
import type { ConnectionKey } from './run.ts';

// Each connection has an instant of its own within its interval, by its id, so that a thousand that were added at once
// or have waited for a monitor are spread over the interval from their next run on.
const nextDue = `
  to_timestamp(every_seconds * (floor((now_seconds - phase) / every_seconds + 0.25) + 1) + phase)
    from (select extract(epoch from s.every)::float8 as every_seconds,
                 extract(epoch from now())::float8 as now_seconds) clock,
         lateral (select mod(abs(hashint8(s.connection_id)::numeric), 100000)::float8 / 100000 * every_seconds
                    as phase) own`;

// A claim moves due_at on, so that a change of the connection meanwhile can make it due again. A claim lives longer
// than a run may take (120 s), so one that has lapsed is a dead monitor's, and its connection is due.
// Accounts that have as much as they may are passed over, so the first few by due_at say enough: ranking all that is due
// takes 29 ms with 10,000 overdue connections, this takes 6 (measured). Of those, who has the least comes first.
const claimDue = `
  with first as (
    select account_id, connection_id, due_at, row_number() over (partition by account_id order by due_at) as place
      from (select s.account_id, s.connection_id, s.due_at
              from connection_schedule s
              join connection c using (account_id, connection_id)
             where (s.due_at <= now() or s.claimed_until <= now())
               and (s.claimed_until is null or s.claimed_until <= now())
               and c.removed_at is null
               and s.account_id <> all($4::bigint[])
             order by s.due_at
             limit 4 * $2) candidates
  ), due as (
    select s.account_id, s.connection_id, greatest(extract(epoch from now() - s.due_at), 0)::float8 as late
      from first f
      join connection_schedule s using (account_id, connection_id)
      left join unnest($5::bigint[], $6::bigint[]) held (account_id, runs) using (account_id)
     where coalesce(held.runs, 0) + f.place <= $3
       and (s.due_at <= now() or s.claimed_until <= now())
       and (s.claimed_until is null or s.claimed_until <= now())
     order by coalesce(held.runs, 0) + f.place, f.due_at
     limit $2
       for update of s skip locked
  )
  update connection_schedule s
     set claimed_by = $1, claimed_until = now() + interval '150 s', due_at = (select ${nextDue})
    from due
   where s.account_id = due.account_id and s.connection_id = due.connection_id
  returning s.account_id as "accountId", s.connection_id as "connectionId", due.late`;

/** A connection that was claimed, and how many seconds after it was due. */
export interface ClaimedConnection extends ConnectionKey {
  late: number;
}

/** What the claimant runs already, by account, and how many it may run of one account. */
export interface Share {
  held: ReadonlyMap<number, number>;
  each: number;
}

/**
 * Claims at most `limit` connections that are due for the monitor `claimant` (a uuid), the longest overdue first of the
 * accounts of which it runs the least. It may give fewer than there are: ask again until it gives none.
 */
export async function claimDueConnections(
  writer: pg.Pool,
  claimant: string,
  limit: number,
  { held, each }: Share = { held: new Map(), each: limit },
): Promise<ClaimedConnection[]> {
  const full = [...held].flatMap(([accountId, runs]) => (runs >= each ? [accountId] : []));
  const { rows } = await writer.query<ClaimedConnection>(claimDue, [
    ...[claimant, limit, each, full, [...held.keys()], [...held.values()]],
  ]);
  return rows;
}

const claimOne = `
  with claimed as (
    update connection_schedule s
       set claimed_by = $1,
           claimed_until = now() + interval '150 s',
           due_at = case when due_at <= now() then (select ${nextDue}) else due_at end
     where account_id = $2 and connection_id = $3 and (claimed_until is null or claimed_until <= now())
    returning connection_id
  )
  select exists (select from claimed) as claimed,
         exists (select from connection_schedule where account_id = $2 and connection_id = $3) as scheduled`;

// As long as the longest lease: whoever holds the claim has let go of it by then.
const PATIENCE_MS = 155_000;
const POLL_MS = 250;

/**
 * Claims one connection, due or not, for `claimant`; while another monitor runs it, waits for that to end. A
 * connection without a schedule is nobody else's either, so it needs no claim.
 */
export async function claimConnection(writer: pg.Pool, claimant: string, key: ConnectionKey): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const values = [claimant, key.accountId, key.connectionId];
    const { rows } = await writer.query<{ claimed: boolean; scheduled: boolean }>(claimOne, values);
    const { claimed, scheduled } = one(rows, 'claim a connection');
    if (claimed || !scheduled) return;
    if (Date.now() > deadline) {
      throw new Error(
        `Connection ${key.connectionId} is being checked by another monitor: try again in a minute.`,
      );
    }
    await wait(POLL_MS);
  }
}

const release = `
  update connection_schedule
     set claimed_by = null,
         claimed_until = null,
         due_at = case $4 when 'done' then due_at
                          when 'failed' then least(due_at, now() + interval '1 min')
                          else least(due_at, now()) end
   where claimed_by = $1 and account_id = $2 and connection_id = $3`;

/**
 * Gives a claim back, if it is still `claimant`'s. After `done` the connection is next due when the claim said, or when
 * a change of it since did; after `failed` (nothing could be stored) within a minute, after `cancelled` at once.
 */
export async function releaseConnection(
  writer: pg.Pool,
  claimant: string,
  { accountId, connectionId }: ConnectionKey,
  outcome: 'done' | 'failed' | 'cancelled',
): Promise<void> {
  await writer.query(release, [claimant, accountId, connectionId, outcome]);
}

const countDue = `
  select count(*) as due, coalesce(max(extract(epoch from now() - due_at)), 0)::float8 as late
    from connection_schedule
   where due_at <= now() and (claimed_until is null or claimed_until <= now())`;

/** How many connections wait for a monitor, and for how many seconds the longest of them. */
export async function countDueConnections(writer: pg.Pool): Promise<{ due: number; late: number }> {
  const { rows } = await writer.query<{ due: number; late: number }>(countDue);
  return one(rows, 'count the connections that are due');
}

// By the ends of the primary key: it costs nothing.
const several = `
  select (select min(account_id) from connection_schedule)
         is distinct from (select max(account_id) from connection_schedule) as several`;

/** Whether more than one account has connections to be checked. */
export async function areSeveralAccounts(writer: pg.Pool): Promise<boolean> {
  const { rows } = await writer.query<{ several: boolean }>(several);
  return one(rows, 'look for several accounts').several;
}
