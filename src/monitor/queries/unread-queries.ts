import type { Skipped } from '../../checks/check.ts';
import type { Row } from '../../checks/fault.ts';
import { trustedRow } from '../../checks/postgres/server-texts.ts';
import { grantMonitor } from '../../checks/postgres/session-check.ts';
import { cleanObject } from '../outcome.ts';

/** A check that did not measure, with its reason as the rest of a sentence. */
export function skip(reason: string): Skipped {
  return { skipped: `Not measured: ${reason}.` };
}

/** The extension in the database is older than the library of the server. */
export function older(database: string): Skipped {
  return skip(
    `pg_stat_statements in database ${cleanObject(database)} is older than its library: ALTER EXTENSION pg_stat_statements UPDATE brings it up to date`,
  );
}

// Asked for one text, the server converts all of them to the encoding of the database.
const OTHER_ENCODINGS =
  'SELECT pg_stat_statements_reset(0, oid, 0) FROM pg_database WHERE encoding <> (SELECT encoding FROM pg_database WHERE datname = current_database())';

/** A text is in another encoding than the database. */
export function unconvertible(database: string): Skipped {
  const name = cleanObject(database);
  return skip(
    `the texts of pg_stat_statements can't be read in database ${name}, because a query of a database with another encoding has characters that ${name} does not have; watch that database instead, or remove its queries: ${OTHER_ENCODINGS}`,
  );
}

/** What PostgreSQL lacks so that queries can be read, by its own facts; null = nothing. */
export function missingInPostgres(first: Row): Skipped | null {
  if (first['loaded'] !== true) return skip('pg_stat_statements is not in shared_preload_libraries');
  if (first['counts'] === false)
    return skip('pg_stat_statements.track is none, so pg_stat_statements counts no query; set it to top');
  if (first['sees_all'] === true) return null;
  return { ...skip('the queries of other roles are hidden'), grant: grantMonitor(trustedRow(first)) };
}

/** The same for MySQL and MariaDB. */
export function missingInMysql(first: Row): Skipped | null {
  if (first['loaded'] !== 1) return skip('performance_schema is off');
  const off = first['consumers_off'];
  if (typeof off === 'string')
    return skip(off.includes(',') ? 'consumers of statements are off' : `the consumer ${off} is off`);
  if (first['size'] === 0) return skip('performance_schema_digests_size is 0, so no query is counted');
  if (first['instruments'] === 0)
    return skip('the instrument statement/sql/select is off, so queries are not counted');
  return null;
}

/** The last run can't be compared with this one: there was none, or the server began to count anew. */
export function incomparable(
  isPostgres: boolean,
  last: { server: string } | null,
  head: { server: string },
): Skipped {
  if (last === null) return skip('it takes two runs, and this is the first');
  if (last.server === head.server) return skip('the statistics were reset since the last run');
  return skip(
    isPostgres ? 'the server was restarted since the last run' : 'the last run read another server',
  );
}
