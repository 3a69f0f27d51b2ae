import type { Read } from '../../store/read.ts';
import { hasTags } from '../../store/sql/connection-tags.sql.ts';
import type { ConnectionChange } from './connection-change.ts';

/** The last change of the page before. */
interface ChangePlace {
  /** To the microsecond. */
  at: string;
  id: number | string;
}

/** A time range in PostgreSQL's format, or as instants. */
interface ChangeRange {
  /** Including it. */
  from: Date | string;
  /** Excluding it. */
  to: Date | string;
}

/** Which changes to list. */
interface Wanted extends ChangeRange {
  /** Default: all. */
  kinds?: readonly string[];
  limit: number;
  /** How many to leave out first. */
  offset?: number;
  /** The last change of the page before. */
  before?: ChangePlace;
}

// The primary key gives the order: by the column `at`, not by the text of this name. `at` is returned to the microsecond, because it places the next page.
const columns = `
         change_id as id,
         to_char(c.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at,
         kind, database, subject, before, after, source`;

const ofConnection = (end: string) => `
    from connection_change c
   where account_id = $1
     and connection_id = $2
     and c.at >= $3 and c.at < ${end}`;

// The row comparison alone does not tell an index where to begin if there is another bound of the same column.
const before = (place: string) => `least($4::timestamptz, ${place}::timestamptz + interval '1 microsecond')`;

const changes = `
  select ${columns}
  ${ofConnection(before('$5'))}
     and (c.at, c.change_id) < ($5::timestamptz, $6::bigint)
     and ($7::text[] is null or kind = any ($7))
   order by c.account_id desc, c.connection_id desc, c.at desc, c.change_id desc
   limit $8 offset $9`;

const LAST = { at: 'infinity', id: 0 };

/** The changes of a connection, newest first. Pages stay stable while changes are added. */
export function listChanges(
  read: Read,
  accountId: number,
  connectionId: number,
  { from, to, kinds, limit, offset = 0, before = LAST }: Wanted,
): Promise<ConnectionChange[]> {
  const place = [before.at, before.id];
  return read(changes, [accountId, connectionId, from, to, ...place, kinds ?? null, limit, offset]);
}

/** A change in a list of all connections. */
export interface AccountChange extends ConnectionChange {
  connection_id: number;
  connection_name: string;
}

// The index has this expression of `at`.
const AT = `(c.at at time zone 'UTC')`;
const utc = (instant: string) => `${instant}::timestamptz at time zone 'UTC'`;

// A look-up for each change, not a join: the planner would read all connections for the last few changes.
const ofAccount = (end: string) => `
    from connection_change c
   where c.account_id = $1
     and (select n.removed_at is null and ($2::text[] is null or ${hasTags('n.connection_id', '$2')})
            from connection n
           where n.account_id = $1 and n.connection_id = c.connection_id)
     and ${AT} >= ${utc('$3')} and ${AT} < ${utc(end)}`;

const changesOfAccount = `
  select c.connection_id,
         (select n.name from connection n
           where n.account_id = $1 and n.connection_id = c.connection_id) as connection_name, ${columns}
  ${ofAccount(before('$5'))}
     and (${AT}, c.change_id) < (${utc('$5')}, $6::bigint)
   order by ${AT} desc, c.change_id desc
   limit $7 offset $8`;

/** The changes of an account's connections that have all these tags, newest first. Null = of all connections. */
export function listChangesOfAccount(
  read: Read,
  accountId: number,
  tags: readonly string[] | null,
  { from, to, limit, offset = 0, before = LAST }: Omit<Wanted, 'kinds'>,
): Promise<AccountChange[]> {
  return read(changesOfAccount, [accountId, tags, from, to, before.at, before.id, limit, offset]);
}

const count = (rows: string) => `select count(*) as total from (select ${rows} limit $5) counted`;
const countOfConnection = count(ofConnection('$4'));
// Here the connections are read once: a look-up for each of 10,000 changes takes 20 ms.
const countOfAccount = count(`
    from connection_change c
   where c.account_id = $1
     and c.connection_id in (select n.connection_id
                               from connection n
                              where n.account_id = $1 and n.removed_at is null
                                and ($2::text[] is null or ${hasTags('n.connection_id', '$2')}))
     and ${AT} >= ${utc('$3')} and ${AT} < ${utc('$4')}`);

/** How many changes a connection has, or the connections with tags, to `most` at most. */
export async function countChanges(
  read: Read,
  accountId: number,
  of: { connectionId: number } | { tags: readonly string[] | null },
  { from, to, most }: ChangeRange & { most: number },
): Promise<number> {
  const [statement, scope] = 'tags' in of ? [countOfAccount, of.tags] : [countOfConnection, of.connectionId];
  const [row] = await read<{ total: number }>(statement, [accountId, scope, from, to, most]);
  return row?.total ?? 0;
}
