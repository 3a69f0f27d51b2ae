import type { Read } from '../../store/read.ts';
import { type BlockingEpisode, SEEN_WITHIN_SECONDS } from './blocking-episode.ts';

/** SQL: when an episode ended; null = it goes on. One that nobody looks at any more ended when it was seen last, as far as anyone knows. */
export const ENDED_AT = `
         case when seen_at > now() - ${SEEN_WITHIN_SECONDS} * interval '1 s' then ended_at else coalesce(ended_at, seen_at) end as ended_at`;

const episodes = `
  select began_at, root, seen_at, ${ENDED_AT}, database, role, application, most_sessions, longest_seconds, lost_seconds, trees
    from blocking_episode
   where account_id = $1 and connection_id = $2 and began_at >= $3 and began_at < $4 and seen_at >= $6
   order by began_at desc, root
   limit $5`;

/** The blocking episodes of a connection that began in a range, newest first; `seenFrom` leaves out those that were over by then. */
export function listEpisodes(
  read: Read,
  accountId: number,
  connectionId: number,
  { from, to, seenFrom = from, limit }: { from: Date; to: Date; seenFrom?: Date; limit: number },
): Promise<BlockingEpisode[]> {
  return read(episodes, [accountId, connectionId, from, to, limit, seenFrom]);
}
