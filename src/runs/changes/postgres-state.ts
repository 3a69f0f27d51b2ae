import type { Provider } from '../../vocabulary/hosted/providers.ts';
import { type Ask, type Fact, type Reading, textOf } from './facts.ts';
import { hider, isPlain, type Redact } from './redact.ts';

// `reset_val` is the value without what the monitor sets for its own transaction.
const settings = `
  select * from (
    (select name, left(reset_val, 4000) as value, unit, source, sourcefile as file, null as role, null as database
       from pg_settings
      order by name
      limit 3000)
    union all
    (select split_part(entry, '=', 1), left(substr(entry, strpos(entry, '=') + 1), 4000), null, null, null,
            r.rolname::text, d.datname::text
       from pg_db_role_setting s
       left join pg_roles r on r.oid = s.setrole
       left join pg_database d on d.oid = s.setdatabase,
            unnest(s.setconfig) entry
      where (s.setrole = 0 or r.oid is not null) and (s.setdatabase = 0 or d.oid is not null)
      limit 2000)) s`;

// A login without the statistics of others sees rows of pg_stat_replication without names.
const server = `
  select * from (
    select 'server' as part, current_setting('server_version') as name,
           to_char(pg_postmaster_start_time() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as value,
           pg_is_in_recovery() as standby, pg_has_role('pg_read_all_stats', 'usage') as sees
    union all
    (select 'standby', application_name, coalesce(host(client_addr), 'local socket'), null, null
       from pg_stat_replication
      where state <> 'backup' and application_name not similar to 'pg_[0-9]+_sync_%'
      limit 500)) s`;

const timeline = `
  select case when pg_is_in_recovery() then (select timeline_id from pg_control_checkpoint())
              else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline`;

const extensions =
  'select extname::text as name, extversion as value from pg_extension order by extname limit 500';

// They change by themselves, or belong to the session.
const IGNORED = new Set([
  'in_hot_standby',
  'transaction_read_only',
  'transaction_isolation',
  'transaction_deferrable',
  'application_name',
  'client_encoding',
  'role',
  'session_authorization',
  'is_superuser',
  'server_version',
  'server_version_num',
  'huge_pages_status',
  'effective_wal_level',
  'shared_memory_size',
  'shared_memory_size_in_huge_pages',
  'num_os_semaphores',
]);

// Set for the login or by it, so the value says nothing about the server.
const OWN = new Set(['client', 'user', 'database', 'database user']);

/**
 * Reads what may change of a PostgreSQL server: settings, version, start, role and standbys. `place` is the server's
 * address if the connection has several; '' otherwise.
 */
export async function readPostgresServer(
  ask: Ask,
  redact: Redact,
  key: Buffer,
  place: string,
  provider: Provider | null,
): Promise<Reading[]> {
  // Aurora refuses the functions of WAL, and would log that in each run.
  const [row] = provider === 'aurora' ? [] : ((await ask(timeline)) ?? []);
  return [
    ...settingReadings((await ask(settings)) ?? [], redact, hider(key)),
    ...serverReadings((await ask(server)) ?? [], textOf(row?.['timeline']), place),
  ];
}

type Rows = Readonly<Record<string, unknown>>[];

function settingReadings(rows: Rows, redact: Redact, hide: (value: string) => string): Reading[] {
  if (rows.length === 0) return [];
  const isOfServer = (row: Rows[number]) =>
    row['role'] === null && row['database'] === null && row['source'] !== null;
  const ofServer = rows.filter(isOfServer);
  const ofRoles = rows.filter((row) => !isOfServer(row));
  const defined = new Set(ofServer.map((row) => textOf(row['name'])));
  const overridden = new Set(ofRoles.map((row) => textOf(row['name'])));
  const setting: Fact[] = ofServer.flatMap((row) => {
    const [name, source] = [textOf(row['name']), textOf(row['source'])];
    if (IGNORED.has(name) || OWN.has(source) || (source === 'session' && overridden.has(name))) return [];
    const where = sourceOf(source, textOf(row['file']));
    const value = shownSetting(redact(name, textOf(row['value'])), textOf(row['unit']));
    return [['setting', name, value, where === null ? {} : { source: where }]];
  });
  const role_setting: Fact[] = ofRoles.map((row) => {
    const [name, role, database] = [textOf(row['name']), textOf(row['role']), textOf(row['database'])];
    const value = textOf(row['value']);
    // The setting of an application may be anything.
    const known = defined.has(name) || !name.includes('.') || isPlain(value);
    const shown = known ? redact(name, value) : hide(value);
    const source = [role && `role ${role}`, database && `database ${database}`].filter(Boolean).join(' in ');
    return ['setting', role ? `${name} (role ${role})` : name, shown, { source, database }];
  });
  return [
    { kind: 'setting', database: '', facts: setting },
    { kind: 'role_setting', database: '', facts: role_setting },
  ];
}

function sourceOf(source: string, file: string): string | null {
  if (source === 'session') return null;
  if (source !== 'configuration file') return source;
  if (file === '') return source;
  return file.endsWith('/postgresql.auto.conf') ? 'ALTER SYSTEM' : `file ${file}`;
}

const MEMORY = ['B', 'kB', 'MB', 'GB', 'TB'] as const;
const TIME: readonly (readonly [string, number])[] = [
  ['ms', 1_000],
  ['s', 60],
  ['min', 60],
  ['h', 24],
  ['d', Number.POSITIVE_INFINITY],
];

/** A setting in its largest whole unit, as SHOW prints it: 16384 of 8kB is 128MB. */
function shownSetting(value: string, unit: string): string {
  if (unit === '' || !/^\d+$/.test(value) || value === '0') return value;
  const [, times = '', name = ''] = /^(\d*)([A-Za-z]+)$/.exec(unit) ?? [];
  let number = Number(value) * Number(times || 1);
  const units: readonly (readonly [string, number])[] = MEMORY.some((known) => known === name)
    ? MEMORY.map((known) => [known, 1024])
    : TIME;
  let at = units.findIndex(([known]) => known === name);
  if (at < 0) return `${value} ${unit}`;
  for (
    let [, next = 0] = units[at] ?? [];
    at < units.length - 1 && number % next === 0;
    [, next = 0] = units[at] ?? []
  ) {
    number /= next;
    at += 1;
  }
  return `${number}${units[at]?.[0]}`;
}

function serverReadings([first, ...others]: Rows, timelineId: string, place: string): Reading[] {
  if (first?.['part'] !== 'server') return [];
  const role = first['standby'] === true ? 'standby' : 'primary';
  const facts: Fact[] = [
    ['version', 'PostgreSQL', textOf(first['name'])],
    ['restart', 'server', textOf(first['value']), { of: place }],
    ['failover', 'role', `${role}${timelineId && ` on timeline ${timelineId}`}${place && ` at ${place}`}`],
  ];
  const reading: Reading = {
    kind: 'server',
    database: '',
    facts,
    basis: timelineId === '' ? '' : 'timeline',
  };
  if (first['sees'] !== true) return [reading];
  const standbys = others.map(
    (row): Fact => ['standby', `${textOf(row['name'])} (${textOf(row['value'])})`, 'connected'],
  );
  return [reading, { kind: 'standby', database: '', facts: standbys }];
}

/** Reads the extensions of a PostgreSQL database. */
export async function readPostgresDatabase(ask: Ask, database: string): Promise<Reading[]> {
  const rows = await ask(extensions);
  if (!rows) return [];
  const facts = rows.map((row): Fact => ['extension', textOf(row['name']), textOf(row['value'])]);
  return [{ kind: 'extension', database, facts }];
}
