import type { Read } from '../../store/read.ts';
import type { BlockingEpisode } from './blocking-episode.ts';
import type { Deadlock } from './deadlock.ts';
import { ENDED_AT } from './list-episodes.ts';

/** A blocking episode or a deadlock, without the trees of who waited for whom. */
export interface Incident
  extends Pick<BlockingEpisode, 'began_at' | 'seen_at' | 'ended_at' | 'most_sessions'> {
  kind: 'blocking' | 'deadlock';
  /** '' = unknown, as are the next two. */
  database: string;
  role: string;
  application: string;
  /** Null of a deadlock, as is the next. */
  longest_seconds: number | null;
  lost_seconds: number | null;
  /** Null of a blocking episode. */
  transactions: Deadlock['transactions'] | null;
}

// The primary keys order and count what is in the range, at most the 1,000 of each kind that are kept. Only the rows of the page
// are read, by `limit 1` one at a time, so each page touches as many, however deep it is. Without one on the page there is one row, which counts them.
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
  select (select count(*) from place) as total, incident.*
    from (select) always
    left join lateral (
      select l.kind, l.began_at, l.root, e.*
        from listed l,
             lateral (
               select seen_at, ${ENDED_AT}, database, role, application, most_sessions, longest_seconds, lost_seconds,
                      null::jsonb as transactions
                 from blocking_episode
                where account_id = $1 and connection_id = $2 and began_at = l.began_at and root = l.root
                limit 1) e
       where l.kind = 'blocking'
      union all
      select l.kind, l.began_at, l.root, d.*
        from listed l,
             lateral (
               select at, at, '', '', '', jsonb_array_length(transactions), null::float8, null::float8, transactions
                 from deadlock
                where account_id = $1 and connection_id = $2 and at = l.began_at
                limit 1) d
       where l.kind = 'deadlock'
       order by began_at desc, kind, root) incident on true`;

/** The blocking episodes and deadlocks of a connection that began in a range, newest first; and how many there are. */
export async function listIncidents(
  read: Read,
  accountId: number,
  connectionId: number,
  { from, to, limit, offset }: { from: string; to: string; limit: number; offset: number },
): Promise<{ total: number; incidents: Incident[] }> {
  const values = [accountId, connectionId, from, to, limit, offset];
  const rows = await read<(Incident | { kind: null }) & { total: number }>(page, values);
  const incidents = rows.flatMap(({ total: _, ...row }) => (row.kind === null ? [] : [row]));
  return { total: rows[0]?.total ?? 0, incidents };
}
