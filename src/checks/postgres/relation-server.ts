import { numberIn, onlyRow } from '../columns.ts';
import type { Row } from '../fault.ts';
import { countedSince, SEES_PROMOTION } from './counted-since.ts';
import { isOff } from './own-role-settings.ts';

/** What the statement reads about the server itself. */
export interface RelationServer {
  standby: boolean;
  trackCounts: boolean;
  /** The age of the statistics: since their reset or loss, the server's start, or its promotion if the check reads that. */
  countedSeconds: number;
  /** It does not know the sizes of most tables and indexes. */
  unsized: boolean;
}

/** Kinds of objects that many databases have none of: → FROM and WHERE of them all, also the system's. */
export const KINDS = {
  disabled_triggers: `pg_trigger where tgenabled = 'D'`,
  foreign_keys: `pg_constraint where contype = 'f'`,
  invalid_constraints: 'pg_constraint where not convalidated',
  invalid_indexes: 'pg_index where not indisvalid',
  sequences: 'pg_sequence',
  unlogged_tables: `pg_class where relpersistence = 'u'`,
};

const presence = Object.entries(KINDS).map(([kind, from]) => `exists (select from ${from}) as ${kind},`);

// A statement of its own: a session does not send the same one twice, so all these checks count the tables once. Indexes,
// sequences and TOAST tables do not count: a table may have a dozen of them. After pg_upgrade (before 18) and a restore, no table has a
// size until it is analyzed; nor has one that was just made, so the files decide, which are looked at only then.
export const serverRow = `
  select t.tables::float8 as tables,
         coalesce(case when t.unknown > 0 and t.unknown * 2 >= t.with_rows
                       then pg_database_size(current_database())
                            > 32 * 1024 * 1024 + 2 * current_setting('block_size')::bigint
                              * (select coalesce(sum(relpages), 0)::bigint from pg_class where oid >= 16384) end, false) as unsized,
         ${presence.join('\n         ')}
         pg_is_in_recovery() as standby,
         ${SEES_PROMOTION} as sees_promotion,
         not ${isOff('track_counts')} as track_counts,
         (select extract(epoch from now() - ${countedSince('stats_reset')})::float8
            from pg_stat_database where datname = current_database()) as counted_seconds
    from (select count(*) as tables,
                 count(*) filter (where relkind <> 'p') as with_rows,
                 count(*) filter (where relkind <> 'p' and reltuples < 0) as unknown
            from pg_class
           where relkind in ('r', 'p', 'm')
             and relpersistence <> 't'
             and relnamespace in (select oid from pg_namespace
                                   where nspname !~ '^pg_' and nspname <> 'information_schema')) t`;

/** How many tables the database has. */
export function tablesIn(rows: readonly Row[]): number {
  return numberIn(onlyRow(rows), 'tables');
}

/** What the server said of itself. */
export function serverIn(rows: readonly Row[]): RelationServer {
  const first = onlyRow(rows);
  return {
    standby: first['standby'] === true,
    trackCounts: first['track_counts'] === true,
    countedSeconds: Math.min(numberIn(first, 'counted_seconds'), secondsAsPrimary(rows)),
    unsized: first['unsized'] === true,
  };
}

/** How long the server has been a primary, as {@link PROMOTION} says. */
function secondsAsPrimary(rows: readonly Row[]): number {
  const seconds = rows.find(({ promoted_seconds }) => typeof promoted_seconds === 'number');
  return seconds ? numberIn(seconds, 'promoted_seconds') : Number.POSITIVE_INFINITY;
}
