import type { Read } from '../../store/read.ts';

// The last minute is stored a moment after it is over.
const latest = `
  select c.connection_id as id, l.active, l.commits + l.rollbacks as transactions, l.replica_lag as lag
    from connection c
   cross join lateral (select active, commits, rollbacks, replica_lag
                         from session_load
                        where account_id = $1 and connection_id = c.connection_id and at > now() - interval '3 min'
                        order by at desc
                        limit 1) l
   where c.account_id = $1 and c.removed_at is null`;

/** What a connection did in the last minute. */
export interface LoadNow {
  id: number;
  /** The average number of active sessions. */
  active: number;
  /** A second; null = not read. */
  transactions: number | null;
  /** Of a replica, in seconds. */
  lag: number | null;
}

/** What each connection of an account that has a pulse did in the last minute. */
export function readFleetLoad(read: Read, accountId: number): Promise<LoadNow[]> {
  return read<LoadNow>(latest, [accountId]);
}
