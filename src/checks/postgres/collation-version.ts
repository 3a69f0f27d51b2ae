import { textIn, textOrNone } from '../columns.ts';
import type { Row } from '../fault.ts';
import { IS_OF_USERS, MEASURED_DATABASE } from './database-left-out.ts';
import { relationCheck } from './relation-check.ts';

// default, C and POSIX, which have no version.
const BUILT_IN = '100, 950, 951';

// A collation counts where a column, an index, a key of partitions or a range type uses it: rows in the wrong partition are not found either. There
// are hundreds, and asking the library takes 15 µs each: so only those are asked.
const ofColumns = `
  select format('%I.%I', n.nspname, c.collname) as collation_name,
         quote_literal(format('%I.%I', n.nspname, c.collname)) as literal,
         quote_ident(current_database()) as database_name, c.collversion as recorded,
         pg_collation_actual_version(c.oid) as actual, 'own' as kind, true as connectable, null as unseen
    from (select * from pg_collation
           where oid in (select attcollation from pg_attribute where attnum > 0 and attcollation not in (0, ${BUILT_IN})
                          union select unnest(partcollation) from pg_partitioned_table
                          union select rngcollation from pg_range)
             and oid not in (${BUILT_IN})
          offset 0) c
    join pg_namespace n on n.oid = c.collnamespace
   where c.collversion <> pg_collation_actual_version(c.oid)`;

// Nothing is measured in templates and in databases that the login may not enter: the first of the others tells of them.
const ofDatabases = `
  select null, null, quote_ident(datname), datcollversion, pg_database_collation_actual_version(oid),
         case when datname = current_database() then 'own' when datistemplate then 'template' else 'other' end, datallowconn, null
    from pg_database
   where (datname = current_database()
          or datconnlimit <> -2 and ${IS_OF_USERS} and not (${MEASURED_DATABASE})
             and current_database() = (select min(datname) from pg_database where ${MEASURED_DATABASE}))
     and datcollversion <> pg_database_collation_actual_version(oid)`;

// Before 15 a database's own collation had no version.
const candidates = (version: number) =>
  `${version < 150_000 ? ofColumns : `${ofColumns} union all ${ofDatabases}`} order by 1 nulls first, 3`;

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
    const what = collation === undefined ? nameOwner(row, database) : `collation ${collation}`;
    const refused = row['kind'] === 'template' ? 'CREATE DATABASE refuses to copy it, and its ' : '';
    return {
      severity: 'warning',
      object: collation ?? database,
      metricLine: `${what} was recorded as version ${textIn(row, 'recorded')}, and the system has ${textIn(row, 'actual')}: ${refused}indexes of text may be in the wrong order; rebuild them, then record the new version.`,
      remediation:
        collation === undefined
          ? databaseSteps(database, row['connectable'] === true)
          : collationSteps(collation, row),
    };
  },
  passMessage: 'Every collation has the version that it was recorded with.',
});

function nameOwner(row: Row, database: string): string {
  if (row['kind'] === 'own') return 'its own collation';
  return `the collation of ${row['kind'] === 'template' ? 'template' : 'database'} ${database}`;
}

function databaseSteps(database: string, isConnectable: boolean): string {
  const admit = `ALTER DATABASE ${database} ALLOW_CONNECTIONS`;
  const [before, after] = isConnectable
    ? ['', '']
    : [`run ${admit} true; and, `, ` Afterwards run ${admit} false;`];
  return `SELECT datname, datcollversion, pg_database_collation_actual_version(oid) FROM pg_database; -- then ${before}connected to database ${database} in a quiet period, run REINDEX DATABASE CONCURRENTLY ${database}; and after it ALTER DATABASE ${database} REFRESH COLLATION VERSION;${after}`;
}

function collationSteps(collation: string, row: Row): string {
  return `SELECT DISTINCT indrelid::regclass, indexrelid::regclass FROM pg_index JOIN pg_attribute ON attrelid = indexrelid WHERE attcollation = ${textIn(row, 'literal')}::regcollation; -- then rebuild each of them concurrently, and after that run ALTER COLLATION ${collation} REFRESH VERSION;`;
}
