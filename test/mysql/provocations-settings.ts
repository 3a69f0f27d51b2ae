import { createServer } from 'node:net';
import type { MariadbServer, Settings } from './mariadb-server.ts';
import type { Provocation } from './provocations.ts';

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
      await server.run("insert ignore into hot select seq, repeat('x', 900) from seq_1_to_1000");
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
    thresholds: AT_ONCE,
    // The fault must exist at the previous run too.
    prepare: async (server) => {
      await server.run([
        'set global innodb_adaptive_flushing = off',
        'set global innodb_max_dirty_pages_pct = 99',
        'set global innodb_log_file_size = 16777216',
      ]);
      for (let times = 0; (await checkpointAge(server)) < 0.81; times++) await overwrite(server, 100, times);
    },
    async provoke(server) {
      await overwrite(server, 100, 0);
      return async (remediation) => {
        await server.run(remediation);
        await server.run([
          'set global innodb_adaptive_flushing = on',
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
  startedWith('MY_FORCE_RECOVERY', 'critical', { 'innodb-force-recovery': '1' }),
  startedWith('MY_BINLOG_OFF', 'warning', { 'skip-log-bin': 'ON' }),
  startedWith('MY_VERSION_EOL', 'critical', { version: '10.5.29-MariaDB' }),
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
      "create user either@localhost identified via unix_socket or mysql_native_password using ''",
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
    provoke: made("create user veteran@localhost identified via mysql_old_password using '7c786c222596437b'"),
  },
];

/** Fixed by running the finding's remediation as it stands. */
function made(statement: string): Provocation['provoke'] {
  return async (server) => {
    await server.run(statement);
    return async (remediation) => void (await server.run(remediation));
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

async function overwrite(server: MariadbServer, rows: number, times: number): Promise<void> {
  await server.run(`update hot set body = repeat(char(97 + ${times % 26}), 900) where id <= ${rows}`);
}

async function checkpointAge(server: MariadbServer): Promise<number> {
  const rows = await server.run(
    "show global status where variable_name in ('Innodb_checkpoint_age', 'Innodb_checkpoint_max_age')",
  );
  const [age = 0, most = 1] = rows.map((row) => Number(row['Value']));
  return age / most;
}

/** An unused port. */
export async function unusedPort(): Promise<string> {
  const listener = createServer();
  await new Promise<void>((done) => listener.listen(0, '0.0.0.0', done));
  const address = listener.address();
  await new Promise((done) => listener.close(done));
  return String(typeof address === 'object' ? address?.port : '');
}
