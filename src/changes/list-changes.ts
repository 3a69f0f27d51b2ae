import type { Read } from '../database/read.ts';
import type { ConnectionChange } from './connection-change.ts';

/** Which changes to list. */
interface Wanted {
  /** Including it. */
  from: Date;
  /** Including it. */
  to: Date;
  /** Default: all. */
  kinds?: readonly string[];
  limit: number;
  /** The last change of the page before. */
  before?: { at: string; id: number };
}

// The primary key gives the order: by the column `at`, not by the text of this name. `at` is returned to the microsecond, because it places the next page.
const changes = `
  select change_id as id,
         to_char(c.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at,
         kind, database, subject, before, after, source
    from connection_change c
   where account_id = $1
     and connection_id = $2
     and c.at between $3 and $4
     and (c.at, c.change_id) < ($5::timestamptz, $6::bigint)
     and ($7::text[] is null or kind = any ($7))
   order by c.account_id desc, c.connection_id desc, c.at desc, c.change_id desc
   limit $8`;

const LAST = { at: 'infinity', id: 0 };

/** The changes of a connection, newest first. Pages stay stable while changes are added. */
export function listChanges(
  read: Read,
  accountId: number,
  connectionId: number,
  { from, to, kinds, limit, before = LAST }: Wanted,
): Promise<ConnectionChange[]> {
  const place = [before.at, before.id];
  return read(changes, [accountId, connectionId, from, to, ...place, kinds ?? null, limit]);
}
