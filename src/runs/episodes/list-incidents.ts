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

// At most 1,000 of each kind are kept. Without one on the page there is one row, which counts them.
const page = `
  with incident as (
    select 'blocking' as kind, began_at, root, seen_at, ${ENDED_AT}, database, role, application, most_sessions,
           longest_seconds, lost_seconds, null::jsonb as transactions
      from blocking_episode
     where account_id = $1 and connection_id = $2 and began_at >= $3 and began_at < $4
    union all
    select 'deadlock', at, '', at, at, '', '', '', jsonb_array_length(transactions), null, null, transactions
      from deadlock
     where account_id = $1 and connection_id = $2 and at >= $3 and at < $4
  )
  select (select count(*) from incident) as total, listed.*
    from (select) always
    left join lateral (
      select * from incident order by began_at desc, kind, root limit $5 offset $6) listed on true`;

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
