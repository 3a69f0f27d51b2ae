import { textIn, textOrNone } from '../columns.ts';
import type { Row } from '../fault.ts';
import { relationCheck } from './relation-check.ts';

// default, C and POSIX, which have no version.
const BUILT_IN = '100, 950, 951';

// A collation counts where a column, an index, a key of partitions or a range type uses it: rows in the wrong partition are not found either. There
// are hundreds, and asking the library takes 15 µs each: so only those are asked.
const ofColumns = `
  select format('%I.%I', n.nspname, c.collname) as collation_name,
         quote_literal(format('%I.%I', n.nspname, c.collname)) as literal,
         quote_ident(current_database()) as database_name, c.collversion as recorded,
         pg_collation_actual_version(c.oid) as actual, null as unseen
    from (select * from pg_collation
           where oid in (select attcollation from pg_attribute where attnum > 0 and attcollation not in (0, ${BUILT_IN})
                          union select unnest(partcollation) from pg_partitioned_table
                          union select rngcollation from pg_range)
             and oid not in (${BUILT_IN})
          offset 0) c
    join pg_namespace n on n.oid = c.collnamespace
   where c.collversion <> pg_collation_actual_version(c.oid)`;

const ofDatabase = `
  select null, null, quote_ident(datname), datcollversion, pg_database_collation_actual_version(oid), null
    from pg_database
   where datname = current_database()
     and datcollversion <> pg_database_collation_actual_version(oid)`;

// Before 15 a database's own collation had no version.
const candidates = (version: number) =>
  `${version < 150_000 ? ofColumns : `${ofColumns} union all ${ofDatabase}`} order by 1 nulls first`;

/** Collations whose library sorts in another way than when indexes were built: these miss rows, and accept duplicates. */
export const collationVersion = relationCheck({
  id: 'PG_COLLATION_VERSION',
  title: 'Collation version mismatch',
  category: 'durability',
  maxSeverity: 'warning',
  candidates,
  withoutTables: true,
  countMetric: 'outdated_collations_count',
  fault: (row) => {
    const collation = textOrNone(row, 'collation_name');
    const database = textIn(row, 'database_name');
    const what = collation === undefined ? 'its own collation' : `collation ${collation}`;
    return {
      severity: 'warning',
      object: collation ?? database,
      metricLine: `${what} was recorded as version ${textIn(row, 'recorded')}, and the system has ${textIn(row, 'actual')}: indexes of text may be in the wrong order; rebuild them, then record the new version.`,
      remediation: collation === undefined ? databaseSteps(database) : collationSteps(collation, row),
    };
  },
  passMessage: 'Every collation has the version that it was recorded with.',
});

function databaseSteps(database: string): string {
  return `SELECT datname, datcollversion, pg_database_collation_actual_version(oid) FROM pg_database; -- then, connected to database ${database} in a quiet period, run REINDEX DATABASE CONCURRENTLY ${database}; and after it ALTER DATABASE ${database} REFRESH COLLATION VERSION;`;
}

function collationSteps(collation: string, row: Row): string {
  return `SELECT DISTINCT indrelid::regclass, indexrelid::regclass FROM pg_index JOIN pg_attribute ON attrelid = indexrelid WHERE attcollation = ${textIn(row, 'literal')}::regcollation; -- then rebuild each of them concurrently, and after that run ALTER COLLATION ${collation} REFRESH VERSION;`;
}
