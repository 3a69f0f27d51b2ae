import { PROVIDER_NAMES } from '../../vocabulary/hosted/providers.ts';
import type { Check, ServerFacts } from '../check.ts';
import { onlyRow, textOrNone } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import { alterSystem } from './alter-system.ts';
import { COUNTS_NO_STATEMENT } from './own-role-settings.ts';

// A setting of the library exists only if the server loaded it at startup. The other libraries are hidden without
// pg_read_all_settings, and may be changed already.
const sql = `
  select exists (select from pg_extension where extname = 'pg_stat_statements') as installed,
         exists (select from pg_available_extensions where name = 'pg_stat_statements') as available,
         exists (select from pg_settings where name = 'pg_stat_statements.max') as loaded,
         ${COUNTS_NO_STATEMENT} as mute,
         (select coalesce(string_agg(quote_literal(trim(' "' from library)), ', '), '')
            from pg_settings
            left join unnest(string_to_array(setting, ',')) library on trim(' "' from library) <> ''
           where name = 'shared_preload_libraries' and not pending_restart
          having count(*) > 0) as libraries`;

/** Without pg_stat_statements nobody can tell which queries take the most time. */
export const pgssMissing: Check = {
  id: 'PG_PGSS_MISSING',
  title: 'pg_stat_statements is missing',
  category: 'performance',
  maxSeverity: 'info',
  volatile: false,
  scope: 'server',
  sql: () => sql,
  judge: (rows, server) => {
    const row = onlyRow(rows);
    const [installed, loaded] = [row['installed'] === true, row['loaded'] === true];
    const passMessage = 'pg_stat_statements is installed.';
    if (installed && loaded && row['mute'] !== true) return { faults: [], measures: [], passMessage };
    if (installed && loaded) return { passMessage, measures: [], faults: [muteFault(server)] };
    const metricLine = installed
      ? 'pg_stat_statements is installed, but not loaded; add it to shared_preload_libraries.'
      : `pg_stat_statements is not installed in database ${server.database}, so slow queries can't be found; create it${loaded ? '' : ', and add it to shared_preload_libraries'}.`;
    const remediation = installation(row, server);
    return {
      passMessage,
      measures: [],
      faults: [{ severity: 'info', object: null, metricLine, remediation }],
    };
  },
};

/** Installed and loaded, and yet it counts nothing. */
function muteFault(server: Pick<ServerFacts, 'provider'>): Fault {
  return {
    severity: 'info',
    object: null,
    metricLine:
      "pg_stat_statements is installed, but counts no query, because pg_stat_statements.track is none, so slow queries can't be found; set it to top.",
    remediation: alterSystem(server, { name: 'pg_stat_statements.track', value: 'top', literal: "'top'" }),
  };
}

function installation(row: Row, server: Pick<ServerFacts, 'provider'>): string {
  const create = row['installed'] === true ? '' : 'CREATE EXTENSION pg_stat_statements;';
  if (row['available'] !== true)
    return 'Install the package with the contributed extensions of PostgreSQL on the server, such as postgresql-contrib: it contains pg_stat_statements.';
  if (row['loaded'] === true) return server.provider === 'azure' ? allowOnAzure(create) : create;
  const others = textOrNone(row, 'libraries');
  if (others === undefined && server.provider) {
    const company = PROVIDER_NAMES[server.provider];
    return `SHOW shared_preload_libraries; -- then add pg_stat_statements to this list in the settings that ${company} offers, or ask its support${create && `, and run ${create}`}`;
  }
  if (others === undefined) {
    return `SHOW shared_preload_libraries; -- then add pg_stat_statements to this list, restart the server${create && `, and run ${create}`}`;
  }
  const list = [...(others === '' ? [] : [others]), "'pg_stat_statements'"].join(', ');
  const preload = alterSystem(server, {
    name: 'shared_preload_libraries',
    value: list.replace(/[' ]/g, ''),
    literal: list,
    restart: true,
  });
  if (create === '') return preload;
  if (server.provider === 'azure') return `${preload} Then run ${allowOnAzure(create)}`;
  return server.provider ? `${preload} Then run ${create}` : `${create} ${preload}`;
}

/** Azure creates only the extensions that its server parameter lists. */
function allowOnAzure(create: string): string {
  return create === ''
    ? ''
    : `SHOW azure.extensions; -- then, if it lacks PG_STAT_STATEMENTS: az postgres flexible-server parameter set --resource-group GROUP --server-name SERVER --name azure.extensions --value OTHER_EXTENSIONS,pg_stat_statements; then run ${create}`;
}
