import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { isCollected } from '../connections/collected-connection.ts';
import { mayStartWork } from '../store/cells/moving.sql.ts';
import { one } from '../store/one.ts';
import type { ConnectionKey } from './monitor-deps.ts';
import { type PulseEvidence, parseEvidence } from './pulse/pulse-conditions.ts';

// Each connection runs at its own instant within its interval, derived from its id. So a thousand connections that
// were added at once, or waited for a monitor, are spread over the interval from their next run on.
export const nextDue = `
  to_timestamp(every_seconds * (floor((now_seconds - phase) / every_seconds + 0.25) + 1) + phase)
    from (select extract(epoch from s.every)::float8 as every_seconds,
                 extract(epoch from now())::float8 as now_seconds) clock,
         lateral (select mod(abs(hashint8(s.connection_id)::numeric), 100000)::float8 / 100000 * every_seconds
                    as phase) own`;

// What pulses saw longer ago says little about now.
const FRESH_SECONDS = 60;

/** Condition: pulses asked for the run of schedule `s`, and not long ago. */
export const isAsked = `(s.pulse_evidence ->> 'at')::float8 > extract(epoch from now()) - ${FRESH_SECONDS}`;

// A claim advances due_at, so that a change of the connection during the run can make it due again. A claim lasts
// longer than a run (120 s), so an expired claim belongs to a dead monitor, and its connection is due. Accounts at
// their limit are skipped, so looking at the first connections by due_at is enough: with 10,000 overdue connections
// this takes 6 ms, ranking all of them 29 ms (measured). Accounts with the fewest runs come first. Nothing starts for an account
// that is about to leave this cell, or has left it.
const claimDue = (isOnlyAsked: boolean) => `
  with first as (
    select account_id, connection_id, due_at, row_number() over (partition by account_id order by due_at) as place
      from (select s.account_id, s.connection_id, s.due_at
              from connection_schedule s
              join connection c using (account_id, connection_id)
             where (s.due_at <= now() or s.claimed_until <= now())
               and (s.claimed_until is null or s.claimed_until <= now())
               ${isOnlyAsked ? `and s.due_at <= now() and s.pulse_evidence is not null and ${isAsked}` : ''}
               and c.removed_at is null
               and not ${isCollected}
               and s.account_id <> all($4::bigint[])
               and ${mayStartWork('s.account_id')}
             order by s.due_at
             limit 4 * $2) candidates
  ), due as (
    select s.account_id, s.connection_id, greatest(extract(epoch from now() - s.due_at), 0)::float8 as late,
           case when ${isAsked} then s.pulse_evidence end as evidence
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
     set claimed_by = $1, claimed_until = now() + interval '150 s', due_at = (select ${nextDue}), pulse_evidence = null
    from due
   where s.account_id = due.account_id and s.connection_id = due.connection_id
  returning s.account_id as "accountId", s.connection_id as "connectionId", due.late, due.evidence`;

/** A claimed connection, and how many seconds it is overdue. */
export interface ClaimedConnection extends ConnectionKey {
  late: number;
  /** What the pulses saw that asked for this run; null = none asked. */
  evidence: PulseEvidence | null;
}

/** How many checks the claimant already runs, by account, and how many it may run per account. */
export interface Share {
  held: ReadonlyMap<number, number>;
  each: number;
  /** Only the runs that pulses asked for. */
  isOnlyAsked?: boolean;
}

/**
 * Claims at most `limit` due connections for the monitor `claimant` (a UUID). Accounts with the fewest running checks
 * come first, then the longest overdue connections. It may return fewer than are due: call it until it returns none.
 */
export async function claimDueConnections(
  writer: pg.Pool,
  claimant: string,
  limit: number,
  { held, each, isOnlyAsked = false }: Share = { held: new Map(), each: limit },
): Promise<ClaimedConnection[]> {
  const full = [...held].flatMap(([accountId, runs]) => (runs >= each ? [accountId] : []));
  const { rows } = await writer.query<ClaimedConnection & { evidence: unknown }>(claimDue(isOnlyAsked), [
    claimant,
    limit,
    each,
    full,
    [...held.keys()],
    [...held.values()],
  ]);
  return rows.map(({ evidence, ...claimed }) => ({ ...claimed, evidence: parseEvidence(evidence) }));
}

const claimOne = `
  with claimed as (
    update connection_schedule s
       set claimed_by = $1,
           claimed_until = now() + interval '150 s',
           due_at = case when due_at <= now() then (select ${nextDue}) else due_at end
     where account_id = $2 and connection_id = $3 and (claimed_until is null or claimed_until <= now())
       and ${mayStartWork('s.account_id')}
    returning connection_id
  )
  select exists (select from claimed) as claimed,
         exists (select from connection_schedule where account_id = $2 and connection_id = $3) as scheduled`;

// Longer than the longest claim: by then, the other monitor has released it.
const PATIENCE_MS = 155_000;
const POLL_MS = 250;

/**
 * Claims one connection for `claimant`, due or not. Waits while another monitor checks it. A connection without a
 * schedule needs no claim, because no monitor runs it.
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
 * Releases a claim if `claimant` still holds it. After `done`, the connection is next due as scheduled by the claim
 * or by a later change of the connection. After `failed` (nothing could be stored) it is due within a minute, after
 * `cancelled` at once.
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
    from connection_schedule s
    join connection c using (account_id, connection_id)
   where due_at <= now() and (claimed_until is null or claimed_until <= now())
     and not ${isCollected}
     and ${mayStartWork('s.account_id')}`;

/** Counts the connections that wait for a monitor, with the longest wait in seconds. */
export async function countDueConnections(writer: pg.Pool): Promise<{ due: number; late: number }> {
  const { rows } = await writer.query<{ due: number; late: number }>(countDue);
  return one(rows, 'count the connections that are due');
}

// Reads only both ends of the primary key, so it is cheap.
const several = `
  select (select min(account_id) from connection_schedule)
         is distinct from (select max(account_id) from connection_schedule) as several`;

/** Whether more than one account has scheduled connections. */
export async function areSeveralAccounts(writer: pg.Pool): Promise<boolean> {
  const { rows } = await writer.query<{ several: boolean }>(several);
  return one(rows, 'look for several accounts').several;
}
