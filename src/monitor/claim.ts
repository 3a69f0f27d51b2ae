import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { ConnectionKey } from './run.ts';

// Longer than a run may take (120 s), so that a claim lapses only when its monitor is dead.
const claimDue = `
  with due as (
    select s.account_id, s.connection_id
      from connection_schedule s
      join connection c using (account_id, connection_id)
     where s.due_at <= now()
       and (s.claimed_until is null or s.claimed_until <= now())
       and c.removed_at is null
     order by s.due_at
     limit $2
       for update of s skip locked
  )
  update connection_schedule s
     set claimed_by = $1, claimed_until = now() + interval '150 s'
    from due
   where s.account_id = due.account_id and s.connection_id = due.connection_id
  returning s.account_id as "accountId", s.connection_id as "connectionId"`;

/** Claims at most `limit` connections that are due, the longest overdue first, for the monitor `claimant` (a uuid). */
export async function claimDueConnections(
  writer: pg.Pool,
  claimant: string,
  limit: number,
): Promise<ConnectionKey[]> {
  const { rows } = await writer.query<ConnectionKey>(claimDue, [claimant, limit]);
  return rows;
}

const claimOne = `
  with claimed as (
    update connection_schedule
       set claimed_by = $1, claimed_until = now() + interval '150 s'
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
    if (rows[0]?.claimed || !rows[0]?.scheduled) return;
    if (Date.now() > deadline) {
      throw new Error(
        `Connection ${key.connectionId} is being checked by another monitor: try again in a minute.`,
      );
    }
    await wait(POLL_MS);
  }
}

// The rhythm is kept: due_at moves by whole intervals, past now, so that nothing piles up while no monitor ran.
const release = `
  update connection_schedule
     set claimed_by = null,
         claimed_until = null,
         due_at = case $4
           when 'done' then due_at + every * greatest(0, floor(extract(epoch from now() - due_at)
                                                             / extract(epoch from every)) + 1)
           when 'failed' then greatest(due_at, now() + least(every, interval '1 min'))
           else due_at end
   where claimed_by = $1 and account_id = $2 and connection_id = $3`;

/**
 * Gives a claim back, if it is still `claimant`'s. After `done` the connection is next due at its next interval, after
 * `failed` (nothing could be stored) within a minute, after `cancelled` it is as due as it was.
 */
export async function releaseConnection(
  writer: pg.Pool,
  claimant: string,
  { accountId, connectionId }: ConnectionKey,
  outcome: 'done' | 'failed' | 'cancelled',
): Promise<void> {
  await writer.query(release, [claimant, accountId, connectionId, outcome]);
}
