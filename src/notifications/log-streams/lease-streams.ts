import type pg from 'pg';
import { mayStartWork } from '../../store/cells/moving.sql.ts';
import type { Channel } from '../../vocabulary/channels.ts';
import type { StreamFormat } from './stream-input.ts';

/** How long other processes leave a leased stream alone, in seconds. An attempt takes at most 15; its confirmation renews the lease. */
export const STREAM_LEASE_SECONDS = 90;

/** A stream whose next batch this process may send. */
export interface StreamLease {
  accountId: number;
  destinationId: number;
  channel: Channel;
  format: StreamFormat;
  actionTypes: string[] | null;
  excludedTypes: string[];
  actors: string[] | null;
  nextId: number;
  scannedId: number;
  /** The last entry of the batch that was begun; null = none was. */
  batchId: number | null;
  attempts: number;
  epoch: string;
  /** Of the log. All entries up to it are committed. */
  lastId: number;
}

// $1 places are free. Those that fail come last, and get at most $2 of them. An account gets at most $3, less what it has already:
// $4 are accounts with batches under way, and $5 how many each has. Entries that were pruned before they were sent are recorded
// first (stream-retention.ts).
const lease = `
  with due as (
    select s.account_id, s.destination_id, d.channel, q.epoch, h.last_id,
           s.due_at, s.attempts > 0 as is_failing,
           row_number() over (partition by s.account_id order by s.attempts > 0, s.due_at) + coalesce(busy.batches, 0) as of_account
      from log_stream s
      left join unnest($4::bigint[], $5::int[]) busy(of_id, batches) on busy.of_id = s.account_id
      join destination d using (account_id, destination_id)
      join destination_queue q using (account_id, destination_id)
      join account a using (account_id)
      join activity_head h using (account_id)
      left join activity_floor f using (account_id)
     where s.due_at <= now()
       and s.scanned_id < h.last_id
       and s.next_id >= coalesce(f.first_id, 1)
       and d.state = 'enabled'
       and d.removed_at is null
       and a.plan = 'enterprise'
       and ${mayStartWork('s.account_id')}
  ), placed as (
    select due.*, row_number() over (partition by is_failing order by due_at) as place
      from due
     where of_account <= $3::int
  ), chosen as (
    select s.account_id, s.destination_id, placed.channel, placed.epoch, placed.last_id
      from placed
      join log_stream s using (account_id, destination_id)
     where placed.place <= case when placed.is_failing then $2::int else $1::int end
       and s.due_at <= now()
     order by placed.is_failing, placed.place
     limit $1
       for update of s skip locked
  )
  update log_stream s
     set due_at = now() + interval '${STREAM_LEASE_SECONDS} s'
    from chosen c
   where s.account_id = c.account_id and s.destination_id = c.destination_id
  returning s.account_id as "accountId", s.destination_id as "destinationId", c.channel, s.format, s.action_types as "actionTypes",
            s.excluded_types as "excludedTypes", s.actors, s.next_id as "nextId", s.scanned_id as "scannedId",
            s.batch_id as "batchId", s.attempts, c.epoch, c.last_id as "lastId"`;

/** The batches that a process sends at a time, all of them, those of failing streams, and those of one account. */
export const PLACES = { all: 16, failing: 8, ofAccount: 4 };

/**
 * Leases streams that are behind their log, as many as have a place beside the leases whose batches this process sends. A lease that
 * is not recorded expires.
 */
export async function leaseStreams(
  writer: pg.Pool,
  held: readonly Pick<StreamLease, 'accountId' | 'attempts'>[],
): Promise<StreamLease[]> {
  const busy = Map.groupBy(held, ({ accountId }) => accountId);
  const failing = held.filter(({ attempts }) => attempts > 0).length;
  const { rows } = await writer.query<StreamLease>(lease, [
    PLACES.all - held.length,
    PLACES.failing - failing,
    PLACES.ofAccount,
    [...busy.keys()],
    [...busy.values()].map(({ length }) => length),
  ]);
  return rows;
}
