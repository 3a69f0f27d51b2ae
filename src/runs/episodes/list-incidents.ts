import type { Read } from '../../store/read.ts';
import { countAndTexts, readTexts, type TextRow } from '../../store/sql/records.sql.ts';
import { ENDED_AT } from './list-episodes.ts';

// The primary keys order and count what is in the range, at most the 1,000 of each kind that are kept. Only the rows of the page
// are read, by `limit 1` one at a time, so each page touches as many, however deep it is.
const page = `
  with place as materialized (
    select 'blocking' as kind, began_at, root
      from blocking_episode
     where account_id = $1 and connection_id = $2 and began_at >= $3 and began_at < $4
    union all
    select 'deadlock', at, ''
      from deadlock
     where account_id = $1 and connection_id = $2 and at >= $3 and at < $4
  ), listed as materialized (
    select * from place order by began_at desc, kind, root limit $5 offset $6
  )
  ${countAndTexts(
    'select count(*) from place',
    `
    select l.kind, l.began_at, e.*
      from listed l,
           lateral (
             select seen_at, ${ENDED_AT}, nullif(database, ''), nullif(role, ''), nullif(application, ''), most_sessions, longest_seconds,
                    lost_seconds, null::jsonb, root
               from blocking_episode
              where account_id = $1 and connection_id = $2 and began_at = l.began_at and root = l.root
              limit 1) e
     where l.kind = 'blocking'
    union all
    select l.kind, l.began_at, d.*
      from listed l,
           lateral (
             select at, at, null, null, null, jsonb_array_length(transactions), null::float8, null::float8, transactions, ''
               from deadlock
              where account_id = $1 and connection_id = $2 and at = l.began_at
              limit 1) d
     where l.kind = 'deadlock'
     order by began_at desc, kind, root`,
  )}`;

/**
 * How many blocking episodes and deadlocks of a connection began in a range, and a page of them, newest first. Their texts: kind, when
 * it began, was seen and ended; database, role and application (null = unknown); sessions, longest wait and lost time; and the
 * transactions of a deadlock as JSON. A deadlock has no waits, and a blocking episode no transactions.
 */
export function listIncidents(
  read: Read,
  accountId: number,
  connectionId: number,
  { from, to, limit, offset }: { from: string; to: string; limit: number; offset: number },
): Promise<[number, TextRow[]]> {
  return readTexts(read, page, [accountId, connectionId, from, to, limit, offset]);
}
