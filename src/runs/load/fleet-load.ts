import type { Read } from '../../store/read.ts';

// The last minute is stored a moment after it is over.
const latest = `
  select c.connection_id as id, l.active
    from connection c
   cross join lateral (select active
                         from session_load
                        where account_id = $1 and connection_id = c.connection_id and at > now() - interval '3 min'
                        order by at desc
                        limit 1) l
   where c.account_id = $1 and c.removed_at is null`;

/** The average number of active sessions in the last minute, of each connection of an account that has a pulse. */
export async function readFleetLoad(read: Read, accountId: number): Promise<Map<number, number>> {
  const rows = await read<{ id: number; active: number }>(latest, [accountId]);
  return new Map(rows.map(({ id, active }) => [id, active]));
}
