import { createServer } from 'node:net';
import type { MysqlServer, Settings } from './mysql-server.ts';
import { paste } from './paste.ts';
import type { Provocation } from './provocations.ts';
import { dialect, numbers, ON_MYSQL } from './tested-server.ts';

// The tests do not wait for the minutes between two runs.
const AT_ONCE = { minimum_seconds: 0 };

/** Provocations of durability, configuration and security. */
export const settings: Provocation[] = [
  {
    check_id: 'MY_REDO_TOO_SMALL',
    severity: 'warning',
    object: null,
    thresholds: AT_ONCE,
    prepare: async (server) => {
      await server.run('create table if not exists hot (id int primary key, body varchar(1000))');
      await server.run(`insert ignore into hot select seq, repeat('x', 900) from ${numbers(1, 1_000)}`);
    },
    async provoke(server) {
      // Each is 1.9 MB of redo; ten minutes count six times, and the log holds 96 MB.
      for (let times = 0; times < 10; times++) await overwrite(server, 1_000, times);
      return async (remediation) => void (await server.run(remediation));
    },
  },
  {
    check_id: 'MY_REDO_TOO_SMALL',
    severity: 'critical',
    object: null,
    // MySQL writes pages before its log of 16 MB is 80 % full. The age may fall until the check reads it.
    thresholds: { ...AT_ONCE, critical_age: ON_MYSQL ? 0.3 : 0.6 },
    // The fault must exist at the previous run too.
    prepare: async (server) => {
      await server.run([
        'set global innodb_adaptive_flushing = off',
        ...(ON_MYSQL ? ['set global innodb_idle_flush_pct = 0'] : []),
        'set global innodb_max_dirty_pages_pct = 99',
        dialect({
          mariadb: 'set global innodb_log_file_size = 16777216',
          mysql: 'set global innodb_redo_log_capacity = 16777216',
        }),
      ]);
      // MySQL resizes in the background, and writes all pages meanwhile.
      if (ON_MYSQL)
        await server.until(
          `select variable_value = 16777216 from performance_schema.global_status
            where variable_name = 'Innodb_redo_log_capacity_resized'`,
        );
      for (let times = 0; (await checkpointAge(server)) < (ON_MYSQL ? 0.4 : 0.81); times++)
        await overwrite(server, 100, times);
    },
    async provoke(server) {
      await overwrite(server, 100, 0);
      return async (remediation) => {
        await server.run(remediation);
        await server.run([
          'set global innodb_adaptive_flushing = on',
          ...(ON_MYSQL ? ['set global innodb_idle_flush_pct = 100'] : []),
          'set global innodb_max_dirty_pages_pct = 90',
        ]);
      };
    },
  },
  ...[
    ['MY_FLUSH_NOT_1', 'innodb_flush_log_at_trx_commit = 2'],
    ['MY_FLUSH_NOT_1', 'innodb_flush_log_at_trx_commit = 0'],
    ['MY_SYNC_BINLOG', 'sync_binlog = 0'],
    ['MY_SYNC_BINLOG', 'sync_binlog = 100'],
    ['MY_BINLOG_NO_EXPIRY', 'binlog_expire_logs_seconds = 0'],
    ['MY_LOCAL_INFILE', 'local_infile = on'],
    ['MY_SQL_MODE_LAX', "sql_mode = 'NO_ENGINE_SUBSTITUTION'"],
    ['MY_SQL_MODE_LAX', "sql_mode = ''"],
  ].map(
    ([check_id = '', setting]): Provocation => ({
      check_id,
      severity: 'warning',
      object: null,
      provoke: made(`set global ${setting}`),
    }),
  ),
  startedWith('MY_DOUBLEWRITE_OFF', 'critical', { 'innodb-doublewrite': 'OFF' }),
  ...dialect<Provocation[]>({
    mariadb: [],
    mysql: [
      {
        check_id: 'MY_REDO_DISABLED',
        severity: 'critical',
        object: null,
        provoke: made('alter instance disable innodb redo_log'),
      },
    ],
  }),
  startedWith('MY_FORCE_RECOVERY', 'critical', { 'innodb-force-recovery': '1' }),
  startedWith('MY_BINLOG_OFF', 'warning', { 'skip-log-bin': 'ON' }),
  // A MySQL can't be started under another version.
  ...(ON_MYSQL ? [] : [startedWith('MY_VERSION_EOL', 'warning', { version: '10.5.29-MariaDB' })]),
  {
    check_id: 'MY_TLS_NOT_REQUIRED',
    severity: 'info',
    object: null,
    async provoke(server) {
      await server.restart({
        'skip-networking': 'OFF',
        'bind-address': '0.0.0.0',
        port: await unusedPort(),
      });
      return async (remediation) => void (await server.run(remediation));
    },
  },
  {
    check_id: 'MY_EMPTY_PASSWORD',
    severity: 'critical',
    object: '`no``body`@`localhost`',
    provoke: made('create user `no``body`@localhost'),
  },
  {
    check_id: 'MY_EMPTY_PASSWORD',
    severity: 'critical',
    object: '`either`@`localhost`',
    provoke: made(
      dialect({
        mariadb: "create user either@localhost identified via unix_socket or mysql_native_password using ''",
        mysql: "create user either@localhost identified with caching_sha2_password by ''",
      }),
    ),
  },
  {
    check_id: 'MY_EMPTY_PASSWORD',
    severity: 'critical',
    object: '``@`localhost`',
    provoke: made("create user ''@localhost identified by 'some password'"),
  },
  {
    check_id: 'MY_ROOT_REMOTE',
    severity: 'warning',
    object: '`root`@`10.%`',
    provoke: made("create user root@'10.%' identified by 'some password'"),
  },
  {
    check_id: 'MY_AUTH_LEGACY',
    severity: 'warning',
    object: '`veteran`@`localhost`',
    provoke: made(
      ...dialect({
        mariadb: ["create user veteran@localhost identified via mysql_old_password using '7c786c222596437b'"],
        // As after an upgrade from 8.4: MySQL 9 has no such plugin.
        mysql: [
          "create user veteran@localhost identified by 'some password'",
          "update mysql.user set plugin = 'mysql_native_password', authentication_string = '*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19' where user = 'veteran'",
          'flush privileges',
        ],
      }),
    ),
  },
];

/** Fixed by running the finding's remediation as it stands. */
function made(...statements: string[]): Provocation['provoke'] {
  return async (server) => {
    await server.run(statements);
    return async (remediation) => void paste(server, remediation);
  };
}

/** Fixed by a restart without that setting. */
function startedWith(check_id: string, severity: Provocation['severity'], starting: Settings): Provocation {
  return {
    check_id,
    severity,
    object: null,
    async provoke(server) {
      await server.restart(starting);
      return () => server.restart();
    },
  };
}

async function overwrite(server: MysqlServer, rows: number, times: number): Promise<void> {
  await server.run(`update hot set body = repeat(char(97 + ${times % 26}), 900) where id <= ${rows}`);
}

async function checkpointAge(server: MysqlServer): Promise<number> {
  const names = dialect({
    mariadb: ['Innodb_checkpoint_age', 'Innodb_checkpoint_max_age'],
    mysql: ['Innodb_redo_log_checkpoint_lsn', 'Innodb_redo_log_current_lsn'],
  });
  const rows = await server.run(`show global status where variable_name in ('${names.join("', '")}')`);
  const [first = 0, second = 1] = rows.map((row) => Number(row['Value']));
  return ON_MYSQL ? (second - first) / 16_777_216 : first / second;
}

/** An unused port. */
export async function unusedPort(): Promise<string> {
  const listener = createServer();
  await new Promise<void>((done) => listener.listen(0, '0.0.0.0', done));
  const address = listener.address();
  await new Promise((done) => listener.close(done));
  return String(typeof address === 'object' ? address?.port : '');
}
