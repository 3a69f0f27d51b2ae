import type pg from 'pg';
import { mayStartWork } from '../../store/cells/moving.sql.ts';
import type { Channel } from '../../vocabulary/channels.ts';
import type { StreamFormat } from './stream-input.ts';
import type { StreamRoom } from './stream-room.ts';

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
  /** Whether its last attempt failed, or was slow. */
  isTroubled: boolean;
  epoch: string;
  /** Of the log. All entries up to it are committed. */
  lastId: number;
}

// $1 batches may start, of which $2 for troubled streams: those that fail, and those of $3, which are slow. The account with the fewest
// comes first: $4 are accounts with batches under way, and $5 how many each has. The streams $6 have one. Entries that were pruned
// before they were sent are recorded first (stream-retention.ts).
const lease = `
  with due as (
    select s.account_id, s.destination_id, d.channel, q.epoch, h.last_id, s.due_at, trouble.is_troubled,
           row_number() over (partition by s.account_id, trouble.is_troubled order by s.due_at) + coalesce(busy.batches, 0) as of_account
      from log_stream s
     cross join lateral (select s.attempts > 0 or s.destination_id = any($3::bigint[]) as is_troubled) trouble
      left join unnest($4::bigint[], $5::int[]) busy(of_id, batches) on busy.of_id = s.account_id
      join destination d using (account_id, destination_id)
      join destination_queue q using (account_id, destination_id)
      join account a using (account_id)
      join activity_head h using (account_id)
      left join activity_floor f using (account_id)
     where s.due_at <= now()
       and s.destination_id <> all($6::bigint[])
       and s.scanned_id < h.last_id
       and s.next_id >= coalesce(f.first_id, 1)
       and d.state = 'enabled'
       and d.removed_at is null
       and a.plan = 'enterprise'
       and ${mayStartWork('s.account_id')}
  ), placed as (
    select due.*, row_number() over (partition by is_troubled order by of_account, due_at) as place
      from due
  ), chosen as (
    select s.account_id, s.destination_id, placed.channel, placed.epoch, placed.last_id, placed.is_troubled
      from placed
      join log_stream s using (account_id, destination_id)
     where placed.place <= case when placed.is_troubled then $2::int else $1::int end
       and s.due_at <= now()
     order by placed.is_troubled, placed.place
     limit $1
       for update of s skip locked
  )
  update log_stream s
     set due_at = now() + interval '${STREAM_LEASE_SECONDS} s'
    from chosen c
   where s.account_id = c.account_id and s.destination_id = c.destination_id
  returning s.account_id as "accountId", s.destination_id as "destinationId", c.channel, s.format, s.action_types as "actionTypes",
            s.excluded_types as "excludedTypes", s.actors, s.next_id as "nextId", s.scanned_id as "scannedId",
            s.batch_id as "batchId", s.attempts, c.epoch, c.last_id as "lastId", c.is_troubled as "isTroubled"`;

/**
 * Leases streams that are behind their log, as many as there is room for. `slow` are destinations whose last batch took long. A lease
 * that is not recorded expires.
 */
export async function leaseStreams(
  writer: pg.Pool,
  { all, troubled, accounts, busy }: StreamRoom,
  slow: Iterable<number>,
): Promise<StreamLease[]> {
  const { rows } = await writer.query<StreamLease>(lease, [
    all,
    troubled,
    [...slow],
    [...accounts.keys()],
    [...accounts.values()],
    busy,
  ]);
  return rows;
}
