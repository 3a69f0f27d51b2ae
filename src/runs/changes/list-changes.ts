import type { Read } from '../../store/read.ts';
import { hasTags } from '../../store/sql/connection-tags.sql.ts';
import { countAndTexts, readTexts, type TextRow } from '../../store/sql/records.sql.ts';
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

/** A page of changes. */
interface Wanted extends ChangeRange {
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

const ofConnection = `
    from connection_change c
   where account_id = $1
     and connection_id = $2
     and c.at >= $3`;

// One bound of `at` above, the end of the range or the last change before: with one more the planner takes the range to be so short that it
// sorts what is in it.
const isBefore = `(c.at, c.change_id) < (least($4, $5::timestamptz), case when $4 <= $5 then 0 else $6::bigint end)`;

const page = (selected: string, filter = '') => `
  select ${selected}
  ${ofConnection}
     and ${isBefore}${filter}
   order by c.account_id desc, c.connection_id desc, c.at desc, c.change_id desc
   limit $7 offset $8`;

const changes = page(columns, 'and ($9::text[] is null or kind = any ($9))');

const LAST = { at: 'infinity', id: 0 };

/** The changes of a connection, newest first, of all kinds by default. Pages stay stable while changes are added. */
export function listChanges(
  read: Read,
  accountId: number,
  connectionId: number,
  { kinds, ...wanted }: Wanted & { kinds?: readonly string[] },
): Promise<ConnectionChange[]> {
  return read(changes, [...pageValues([accountId, connectionId], wanted), kinds ?? null]);
}

function pageValues(
  scope: readonly unknown[],
  { from, to, limit, offset = 0, before = LAST }: Wanted,
): unknown[] {
  return [...scope, from, to, before.at, before.id, limit, offset];
}

const counted = (rows: string) => `select count(*) from (select ${rows} limit $9) counted`;
const texts = `c.change_id, c.kind, c.subject, nullif(c.database, ''), c.before, c.after, c.source, c.at`;
const textPage = countAndTexts(counted(`${ofConnection} and c.at < $4`), page(texts));

/** What to count: this many at most. */
type Counted = Wanted & { most: number };

/**
 * How many changes of a connection are in the range, and a page of them as texts: id, kind, subject, database (null = the whole server),
 * before, after, source and time.
 */
export function listChangeTexts(
  read: Read,
  accountId: number,
  connectionId: number,
  { most, ...wanted }: Counted,
): Promise<[number, TextRow[]]> {
  return readTexts(read, textPage, [...pageValues([accountId, connectionId], wanted), most]);
}

// `change_id > 0` chooses the index. The page is read before the connections are joined: the planner would sort all changes.
const pageOfAccount = `
  select ${texts}, c.connection_id, n.name
    from (select c.*
            from connection_change c
           where c.account_id = $1 and c.change_id > 0
             and c.connection_id = any (array(select connection_id from listed))
             and c.at >= $3 and ${isBefore}
           order by c.at desc, c.change_id desc
           limit $7 offset $8) c
    join listed n on n.connection_id = c.connection_id
   order by c.at desc, c.change_id desc`;

// By the primary key, which PostgreSQL counts without the rows: with them, 2,000 changes took 2 ms instead of 0.2.
const countOfAccount = counted(`
    from connection_change c
   where c.account_id = $1
     and c.connection_id = any (array(select connection_id from listed))
     and c.at >= $3 and c.at < $4`);

const textPageOfAccount = `
  with listed as materialized (
    select n.connection_id, n.name
      from connection n
     where n.account_id = $1 and n.removed_at is null
       and ($2::text[] is null or ${hasTags('n.connection_id', '$2')})
  )
  ${countAndTexts(countOfAccount, pageOfAccount)}`;

/**
 * How many changes the connections with all these tags have, null = all connections, and a page of them, newest first. The texts are
 * those of {@link listChangeTexts}, the connection and its name.
 */
export function listChangesOfAccount(
  read: Read,
  accountId: number,
  tags: readonly string[] | null,
  { most, ...wanted }: Counted,
): Promise<[number, TextRow[]]> {
  return readTexts(read, textPageOfAccount, [...pageValues([accountId, tags], wanted), most]);
}
