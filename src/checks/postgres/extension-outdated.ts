import type { Check } from '../check.ts';
import { textIn } from '../columns.ts';
import { countOf } from '../worst-measures.ts';

const sql = `
  select quote_ident(e.extname) as extension,
         e.extversion as installed,
         available.default_version as current
    from pg_extension e
    join pg_available_extensions available on available.name = e.extname
   where available.default_version <> e.extversion
   order by e.extname`;

/** Extensions whose version in a database differs from the server's files. */
export const extensionOutdated: Check = {
  id: 'PG_EXTENSION_OUTDATED',
  title: 'Extension outdated',
  category: 'configuration',
  maxSeverity: 'info',
  volatile: false,
  scope: 'database',
  cost: 1,
  sql: () => sql,
  judge: (rows, { database }) => ({
    passMessage: 'Every extension has the default version of the server.',
    measures: [countOf('outdated_extensions_count', rows.length)],
    faults: rows.map((row) => {
      const extension = textIn(row, 'extension');
      const [installed, current] = [textIn(row, 'installed'), textIn(row, 'current')];
      const isNewer = installed.localeCompare(current, 'en', { numeric: true }) > 0;
      return {
        severity: 'info',
        object: extension,
        metricLine: `Database ${database}: extension ${extension} is ${installed}, the server has ${current}; ${isNewer ? 'install the newer files' : 'update it'}.`,
        // There is no way back to an older version.
        remediation: isNewer
          ? 'Install the package of the extension in the version that the database has, or a later one, on the server.'
          : `ALTER EXTENSION ${extension} UPDATE;`,
      };
    }),
  }),
};
