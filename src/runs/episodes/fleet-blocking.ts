import type { Read } from '../../store/read.ts';
import { SEEN_WITHIN_SECONDS } from './blocking-episode.ts';

const open = `
  select connection_id as id, sum(most_sessions)::int as sessions
    from blocking_episode
   where account_id = $1 and ended_at is null and seen_at > now() - ${SEEN_WITHIN_SECONDS} * interval '1 s'
   group by connection_id`;

/** How many sessions wait at most for others now, of each connection of an account where some do. */
export async function readFleetBlocking(read: Read, accountId: number): Promise<Map<number, number>> {
  const rows = await read<{ id: number; sessions: number }>(open, [accountId]);
  return new Map(rows.map(({ id, sessions }) => [id, sessions]));
}
