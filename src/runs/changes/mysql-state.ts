import { isMariaDb } from '../../checks/mysql/flavour.ts';
import { type Ask, type Fact, type Reading, textOf } from './facts.ts';
import type { Redact } from './redact.ts';

// Of MySQL as its manual has it: both tables are readable without a privilege.
const settings = {
  mariadb: `
    select lower(variable_name) as name, left(global_value, 4000) as value, global_value_origin as source,
           global_value_path as file
      from information_schema.system_variables
     where global_value is not null
     order by 1
     limit 3000`,
  mysql: `
    select lower(g.variable_name) as name, left(g.variable_value, 4000) as value, i.variable_source as source,
           i.variable_path as file
      from performance_schema.global_variables g
      left join performance_schema.variables_info i on i.variable_name = g.variable_name
     order by 1
     limit 3000`,
};

const server = (statusTable: string) => `
  select version() as version, unix_timestamp() - variable_value as started, @@global.server_id as id,
         @@global.read_only as read_only
    from ${statusTable}
   where variable_name = 'Uptime'`;

const plugins = (version: string) => `
  select plugin_name as name, ${version} as version, plugin_status as status
    from information_schema.plugins
   where plugin_library is not null
   order by 1
   limit 500`;

// Without PROCESS, a login sees only its own sessions. A replica's port changes with each connection.
const standbys = (grantee: string) => `
  select 'sees' as part, '' as user, '' as host
    from information_schema.user_privileges
   where grantee = ${grantee} and privilege_type = 'PROCESS'
  union all
  select 'standby', user, substring_index(host, ':', 1)
    from information_schema.processlist
   where command like 'Binlog Dump%'
   limit 500`;

// They change by themselves, belong to the session, or say which server it is, which the failover does.
const IGNORED =
  /^(?:gtid_(?:executed|purged|binlog_pos|binlog_state|current_pos|slave_pos|owned)|last_gtid|timestamp|(?:last_)?insert_id|identity|rand_seed\d|pseudo_\w+|error_count|warning_count|in_transaction|(?:tx|transaction)_read_only|(?:super_)?read_only|server_(?:id|uuid|uid)|hostname|version|wsrep_(?:gtid_\w+|start_position|patch_version)|innodb_version|proxy_user|external_user|statement_id)$/;

const SOURCES: Readonly<Record<string, string>> = {
  CONFIG: 'configuration file',
  SQL: 'SET GLOBAL',
  'COMPILE-TIME': 'default',
  AUTO: 'chosen by the server',
  COMPILED: 'default',
  GLOBAL: 'configuration file',
  SERVER: 'configuration file',
  EXPLICIT: 'configuration file',
  EXTRA: 'configuration file',
  USER: 'configuration file',
  COMMAND_LINE: 'command line',
  'COMMAND-LINE': 'command line',
  PERSISTED: 'SET PERSIST',
  DYNAMIC: 'SET GLOBAL',
};

/** The login as `information_schema` has it: `'watcher'@'localhost'`. */
function toGrantee(me: string): string {
  return `0x${Buffer.from(me).toString('hex')}`;
}

/**
 * Reads what may change of a MySQL or MariaDB server: settings, version, start, role, plugins and replicas. `me` is the
 * login; `started` is when the server started, as the previous run read it.
 */
export async function readMysqlServer(
  ask: Ask,
  redact: Redact,
  { version, me, started }: { version: number; me: string; started: string | null },
): Promise<Reading[]> {
  const maria = isMariaDb(version);
  const [schema, pluginVersion] = maria
    ? ['information_schema', `coalesce(plugin_auth_version, plugin_version)`]
    : ['performance_schema', 'plugin_version'];
  return [
    ...settingReading(await ask(settings[maria ? 'mariadb' : 'mysql']), redact),
    ...serverReading((await ask(server(`${schema}.global_status`)))?.[0], maria, started),
    ...pluginReading(await ask(plugins(pluginVersion))),
    ...standbyReading(await ask(standbys(toGrantee(me)))),
  ];
}

type Rows = Readonly<Record<string, unknown>>[];

function settingReading(rows: Rows | null, redact: Redact): Reading[] {
  if (!rows) return [];
  const facts = rows.flatMap((row): Fact[] => {
    const name = textOf(row['name']);
    if (IGNORED.test(name)) return [];
    const origin = textOf(row['source']);
    const file = textOf(row['file']);
    const source = SOURCES[origin] ?? origin;
    const where = source === 'configuration file' && file !== '' ? `file ${file}` : source;
    return [['setting', name, redact(name, textOf(row['value'])), where === '' ? {} : { source: where }]];
  });
  return [{ kind: 'setting', database: '', facts }];
}

// The server counts whole seconds, so the time of its start differs by one from run to run.
const ROUNDING_S = 5;

function serverReading(row: Rows[number] | undefined, maria: boolean, before: string | null): Reading[] {
  const seconds = Number(row?.['started']);
  if (!row || !(seconds > 0 && seconds < 1e11)) return [];
  const read = new Date(Math.round(seconds) * 1_000).toISOString();
  const isSame = before !== null && Math.abs(Date.parse(before) - Date.parse(read)) <= ROUNDING_S * 1_000;
  const id = textOf(row['id']);
  const role = ['0', 'OFF'].includes(textOf(row['read_only']).toUpperCase()) ? 'read-write' : 'read-only';
  const facts: Fact[] = [
    ['version', maria ? 'MariaDB' : 'MySQL', textOf(row['version'])],
    ['restart', 'server', isSame ? before : read, { of: id }],
    ['failover', 'role', `${role}, server id ${id}`],
  ];
  return [{ kind: 'server', database: '', facts }];
}

function pluginReading(rows: Rows | null): Reading[] {
  if (!rows) return [];
  const facts = rows.map((row): Fact => {
    const value = `${textOf(row['version'])} ${textOf(row['status']).toLowerCase()}`;
    return ['extension', textOf(row['name']), value];
  });
  return [{ kind: 'extension', database: '', facts }];
}

function standbyReading(rows: Rows | null): Reading[] {
  if (!rows?.some((row) => row['part'] === 'sees')) return [];
  const facts = rows
    .filter((row) => row['part'] === 'standby')
    .map((row): Fact => ['standby', `${textOf(row['user'])} (${textOf(row['host'])})`, 'connected']);
  return [{ kind: 'standby', database: '', facts }];
}
