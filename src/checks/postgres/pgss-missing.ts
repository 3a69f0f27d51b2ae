import type { Check } from '../check.ts';
import { onlyRow } from '../columns.ts';

// A setting of the library exists only if the server loaded it at startup.
const sql = `
  select exists (select from pg_extension where extname = 'pg_stat_statements') as installed,
         exists (select from pg_settings where name = 'pg_stat_statements.max') as loaded`;

/** Without pg_stat_statements nobody can tell which queries take the most time. */
export const pgssMissing: Check = {
  id: 'PG_PGSS_MISSING',
  title: 'pg_stat_statements is missing',
  category: 'performance',
  maxSeverity: 'info',
  volatile: false,
  scope: 'server',
  sql: () => sql,
  judge: (rows, { database }) => {
    const row = onlyRow(rows);
    const [installed, loaded] = [row['installed'] === true, row['loaded'] === true];
    const passMessage = 'pg_stat_statements is installed.';
    if (installed && loaded) return { faults: [], measures: [], passMessage };
    const preload = `ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'; -- add it to the current value; takes effect at the next restart`;
    const create = 'CREATE EXTENSION pg_stat_statements;';
    const metricLine = installed
      ? 'pg_stat_statements is installed, but not loaded; add it to shared_preload_libraries.'
      : `pg_stat_statements is not installed in database ${database}, so slow queries can't be found; create it${loaded ? '' : ', and add it to shared_preload_libraries'}.`;
    const remediation = loaded ? create : installed ? preload : `${create} ${preload}`;
    return {
      passMessage,
      measures: [],
      faults: [{ severity: 'info', object: null, metricLine, remediation }],
    };
  },
};
