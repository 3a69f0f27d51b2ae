import type pg from 'pg';
import type { BlockingEpisode } from './blocking-episode.ts';

/** The most episodes of a connection. */
const MOST = 1_000;

// The deletion does not see what the same statement inserts, so it leaves room for it. A monitor that takes over a pulse goes on with the episode of the one before.
const store = `
  with known as (
    select began_at
      from blocking_episode
     where account_id = $1 and connection_id = $2 and root = $4 and ended_at is null
       and seen_at > $5::timestamptz - interval '5 min'
     order by began_at
     limit 1
  ), stored as (
    insert into blocking_episode as e (account_id, connection_id, began_at, root, seen_at, ended_at, database, role, application,
                                       most_sessions, longest_seconds, lost_seconds, trees)
    select $1, $2, coalesce((select began_at from known), $3), $4, $5, $6, $7, $8, $9, $10, $11, $12, $13
     where exists (select from connection where account_id = $1 and connection_id = $2 and removed_at is null)
    on conflict (account_id, connection_id, began_at, root) do update
      set seen_at         = excluded.seen_at,
          ended_at        = excluded.ended_at,
          most_sessions   = greatest(e.most_sessions, excluded.most_sessions),
          longest_seconds = greatest(e.longest_seconds, excluded.longest_seconds),
          lost_seconds    = greatest(e.lost_seconds, excluded.lost_seconds),
          trees           = excluded.trees
    returning began_at
  )
  delete from blocking_episode
   where account_id = $1 and connection_id = $2
     and began_at < (select began_at
                       from blocking_episode
                      where account_id = $1 and connection_id = $2
                      order by began_at desc
                     offset ${MOST - 2} limit 1)`;

/** Stores an episode of a connection, or what became of it, and forgets the oldest beyond 1,000. */
export async function storeEpisode(
  writer: pg.Pool,
  { accountId, connectionId }: { accountId: number; connectionId: number },
  episode: BlockingEpisode,
): Promise<void> {
  const { began_at, root, seen_at, ended_at, database, role, application } = episode;
  const { most_sessions, longest_seconds, lost_seconds, trees } = episode;
  await writer.query(store, [
    accountId,
    connectionId,
    began_at,
    root,
    seen_at,
    ended_at,
    database,
    role,
    application,
    most_sessions,
    longest_seconds,
    lost_seconds,
    JSON.stringify(trees),
  ]);
}
