import type { Check } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { onlyRow, textIn } from '../columns.ts';
import { countOf } from '../worst-measures.ts';

const sql = `
  select quote_ident(datname) as database
    from (select) one_row
    left join pg_database on datconnlimit = -2
   order by datname
   limit ${FAULT_LIMIT + 1}`;

/** Databases whose DROP was interrupted: nobody can connect to one, and it keeps its files. */
export const databaseInvalid: Check = {
  id: 'PG_DATABASE_INVALID',
  title: 'Invalid database',
  category: 'availability',
  maxSeverity: 'warning',
  volatile: false,
  scope: 'server',
  sql: () => sql,
  judge: (rows) => {
    onlyRow(rows.slice(0, 1));
    const names = rows.filter(({ database }) => database !== null).map((row) => textIn(row, 'database'));
    return {
      faults: names.slice(0, FAULT_LIMIT).map((database) => ({
        severity: 'warning',
        object: database,
        metricLine: `Database ${database} is invalid: a DROP DATABASE was interrupted, so nobody can connect to it, and it keeps its files; drop it.`,
        remediation: `DROP DATABASE ${database};`,
      })),
      passMessage: 'No database is invalid.',
      measures: [countOf('invalid_databases_count', names.length)],
      truncated: names.length > FAULT_LIMIT,
    };
  },
};
