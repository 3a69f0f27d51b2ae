import { BACKUP_DIGEST } from '../mysql/backups.ts';
import { WAITING_DIGEST } from '../mysql/own-time.ts';
import { isBackupStatement } from '../postgres/backups.ts';
import { isWaitStatement } from '../postgres/lock-waits.ts';
import { COUNTS_NO_STATEMENT, isOff } from '../postgres/own-role-settings.ts';

/** The most entries that are read. PostgreSQL keeps 5,000 by default, MariaDB too, MySQL up to 10,000. */
export const ENTRY_LIMIT = 5_000;

/** Entries that took less in all have no part in anything: most entries of a server are such. */
const LEAST_MS = 1;

/** Each run reads the entries of one of these parts whether they moved or not, so that those that the server removed are forgotten. */
export const PARTS = 16;

/** What the last run saw, so that the server sends only the entries that moved since, and those of one part. */
export interface Seen {
  /** PostgreSQL: a bit for each entry, at the place that {@link seenBit} gives. */
  bits: Buffer;
  /** MySQL: the server's time, Unix in seconds. */
  at: number;
  /** The part that this run reads: the last hexadecimal digit of a queryid, the first one of a digest. */
  part: number;
}

/**
 * The bit of an entry with so many calls: an entry that was called again has another one. `bits` is a power of 2. The same
 * sum is in the statement. A bit that another entry has too hides a call until the next one: for at most one entry in 64, and for one in 1,600 among 20.
 */
export function seenBit(
  { query, user, database, top, calls }: Record<'query' | 'user' | 'database' | 'top' | 'calls', bigint>,
  bits: number,
): number {
  const mixed = query ^ (query >> 32n) ^ (user << 9n) ^ (database << 5n) ^ (top << 1n) ^ calls;
  return Number(mixed & BigInt(bits - 1));
}

const bitInSql = (bits: number) =>
  `((queryid # (queryid >> 32) # (userid::int8 << 9) # (dbid::int8 << 5) # (toplevel::int4::int8 << 1) # calls) & ${bits - 1})::int4`;

/**
 * The server's own facts in one row, and a row for each entry that moved or is of the part. It reads no text:
 * `pg_stat_statements(true)` would read the file that has them. The columns of blocks have the same names in all supported
 * versions; `stats_since` is absent before PostgreSQL 17, so the name then means the column of `absent`.
 */
export function postgresStatistics(schema: string, seen: Seen | null): string {
  const moved =
    seen === null
      ? ''
      : `and (queryid & ${PARTS - 1} = ${seen.part}
              or get_bit(decode('${seen.bits.toString('base64')}', 'base64'), ${bitInSql(seen.bits.length * 8)}) = 0)`;
  return `
  with head as materialized (
    select count(*) filter (where name = 'pg_stat_statements.max') = 1 as loaded,
           not ${COUNTS_NO_STATEMENT} as counts,
           not ${isOff('compute_query_id')} as identifies,
           pg_has_role('pg_read_all_stats', 'usage') as sees_all,
           quote_ident(current_user) as me,
           extract(epoch from clock_timestamp())::float8 as at,
           extract(epoch from pg_postmaster_start_time())::text as server
      from pg_settings
     where name = 'pg_stat_statements.max'
  )
  select head.*, info.*, query.*
    from head
    left join (
      select extract(epoch from stats_reset)::text as reset, dealloc::float8 as lost
        from ${schema}.pg_stat_statements_info()
       where (select loaded from head)
    ) info on true
    full join (
      select queryid::text as query,
             concat_ws('/', queryid, userid, dbid, toplevel::int4) as entry,
             d.datname::text as database,
             pg_get_userbyid(userid)::text as role,
             calls::float8 as calls,
             total_exec_time / 1e3 as seconds,
             rows::float8 as rows,
             (shared_blks_read + local_blks_read)::float8 as read,
             (shared_blks_hit + local_blks_hit)::float8 as hit,
             temp_blks_written * current_setting('block_size')::float8 as temporary,
             date_part('epoch', since) as since
        from (select null::timestamptz as stats_since) absent
        cross join lateral (
          select statement.*, stats_since as since from ${schema}.pg_stat_statements(false) statement
        ) present
        left join pg_database d on d.oid = dbid
       where (select loaded from head)
         and queryid is not null
         and calls > 0
         and total_exec_time >= ${LEAST_MS}
         ${moved}
       order by total_exec_time desc
       limit ${ENTRY_LIMIT}
    ) query on false`;
}

const DIGESTS = 'performance_schema.events_statements_summary_by_digest';

const IS_SET_ASIDE = `(${BACKUP_DIGEST} or ${WAITING_DIGEST} or digest_text like 'SHOW %')`;

/**
 * The server cuts long texts, as most of dbvitals' are, so that nobody can read whether they mention other tables. But dbvitals has no
 * default schema, which applications have. The statement with NAMES prepares its sessions.
 */
const IS_CATALOGUE = `(digest_text like 'SHOW %'
           or digest_text like 'SET NAMES %, SESSION %read_only%'
           or schema_name is null
              and lower(digest_text) regexp '^(set statement .* for )?[^a-z]*(select|with) .*\`(information_schema|performance_schema|mysql|sys|table_schema)\`')`;

/** The digests that are no queries to make faster: of backups, of waits for a lock, and SHOW. No text is sent, only their names. */
export const mysqlSetAside = `
  select digest as query, ${IS_SET_ASIDE} as is_set_aside, ${IS_CATALOGUE} as is_catalogue
    from ${DIGESTS}
   where ${IS_SET_ASIDE} or ${IS_CATALOGUE}
   limit ${ENTRY_LIMIT}`;

/** The longest text of a statement that is looked at. pg_dump's have up to 7,000 characters. */
const LONGEST = 12_000;

/**
 * Of some queries of PostgreSQL, those that are set aside by their form, and the texts of those that may read only the catalogue. The
 * server reads its file of texts for them.
 */
export const postgresSetAside = (schema: string, queries: readonly string[]) => `
  select distinct on (queryid) queryid::text as query, case when not has_form then text end as text
    from (
      select queryid, query as text, ${isBackupStatement('query')} or ${isWaitStatement('query')} as has_form
        from ${schema}.pg_stat_statements
       where queryid in (${queries.join(', ')})
    ) statement
   where has_form
      or length(text) <= ${LONGEST} and text ~* '\\m(?:pg_|information_schema)' and text ~* '^\\W*(?:select|with|prepare)\\M'`;

/** Which of these names without a schema are PostgreSQL's own, as rows with a name. The names have no quotes in them. */
export const postgresNames = (relations: readonly string[], functions: readonly string[]) => `
  select relname::text as relation, null as function
    from pg_catalog.pg_class
   where relnamespace = 'pg_catalog'::regnamespace and relname in (${inQuotes(relations)})
  union all
  select distinct null, proname::text
    from pg_catalog.pg_proc
   where pronamespace = 'pg_catalog'::regnamespace and proname in (${inQuotes(functions)})`;

const inQuotes = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ') || 'null';

/** The texts of those digests that may read only the catalogue of MySQL or MariaDB. */
export const mysqlCatalogueTexts = (queries: readonly string[]) => `
  select digest as query, min(digest_text) as text
    from ${DIGESTS}
   where digest in (${inQuotes(queries)})
     and lower(digest_text) regexp '^[^a-z]*(select|with) .*\`(information_schema|performance_schema|mysql|sys)\`'
   group by digest`;

/** The same for MySQL and MariaDB. A digest has a row per schema. The table counts in picoseconds, MariaDB's times in seconds. */
export function mysqlStatistics(seen: Seen | null): string {
  const moved =
    seen === null
      ? ''
      : `and (digest like '${seen.part.toString(16)}%' or last_seen >= from_unixtime(${Math.floor(seen.at) - 1}))`;
  return `
  select head.*, query.*
    from (
      select @@performance_schema as loaded,
             (select group_concat(name order by name) from performance_schema.setup_consumers
               where name in ('global_instrumentation', 'statements_digest') and enabled <> 'YES') as consumers_off,
             (select count(*) from performance_schema.setup_instruments
               where name = 'statement/sql/select' and enabled = 'YES' and timed = 'YES') as instruments,
             @@performance_schema_digests_size as size,
             unix_timestamp(now(6)) + 0e0 as at,
             concat_ws(':', @@hostname, @@port, @@server_id) as server,
             (select coalesce(sum(count_star), 0) + 0e0 from ${DIGESTS} where digest is null) as lost
       limit 1
    ) head
    left join (
      select digest as query,
             coalesce(schema_name, '') as \`database\`,
             count_star + 0e0 as calls,
             sum_timer_wait / 1e12 as seconds,
             sum_rows_sent + sum_rows_affected + 0e0 as \`rows\`,
             sum_rows_examined + 0e0 as \`read\`,
             0e0 as hit,
             sum_created_tmp_disk_tables + 0e0 as temporary,
             unix_timestamp(first_seen) + 0e0 as since
        from ${DIGESTS}
       where digest is not null
         and sum_timer_wait >= ${LEAST_MS}e9
         ${moved}
       order by sum_timer_wait desc
       limit ${ENTRY_LIMIT}
    ) query on true`;
}
