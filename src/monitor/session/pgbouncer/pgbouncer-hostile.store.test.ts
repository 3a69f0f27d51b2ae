import { expect, test } from 'vitest';
import {
  authentication,
  type HostileAnswer,
  message,
  readyForQuery,
  startHostileServer,
} from '../../../../test/support/hostile-server.ts';
import { byStatus, shortRuns } from '../../../../test/support/short-runs.ts';
import { WATCHER_PASSWORD } from '../../../../test/support/store.ts';
import { pgbouncerChecks } from '../../../checks/pgbouncer/pgbouncer-checks.ts';
import { LIMITS } from '../../limits.ts';
import { measure } from '../../measure.ts';
import { HeldSession } from '../../pulse/held-session.ts';

// What answers as the admin console may be anything.

const { store, run } = shortRuns();

const text = (value: string) => Buffer.from(`${value}\0`);
const version = message('S', Buffer.concat([text('server_version'), text('1.25.0/bouncer')]));
const login = Buffer.concat([authentication(0), version, readyForQuery]);

function size16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function size32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** The answer to a command: rows of texts under these columns. */
function table(columns: readonly string[], rows: readonly (readonly string[])[]): Buffer {
  const fields = columns.map((name) =>
    Buffer.concat([text(name), Buffer.alloc(6), size32(25), Buffer.alloc(8)]),
  );
  const data = rows.map((row) =>
    message(
      'D',
      Buffer.concat([
        size16(row.length),
        ...row.flatMap((value) => [size32(Buffer.byteLength(value)), Buffer.from(value)]),
      ]),
    ),
  );
  return Buffer.concat([
    message('T', Buffer.concat([size16(columns.length), ...fields])),
    ...data,
    message('C', text('SHOW')),
    readyForQuery,
  ]);
}

type Tables = Readonly<Record<string, [columns: readonly string[], rows: readonly (readonly string[])[]]>>;

const POOLS =
  'database user cl_active cl_waiting sv_active sv_idle sv_used sv_tested sv_login maxwait maxwait_us'.split(
    ' ',
  );
const DATABASES =
  'name host port pool_size reserve_pool max_connections current_connections paused disabled'.split(' ');
const CONFIG = Object.entries({
  max_client_conn: '100',
  auth_type: 'md5',
  listen_addr: '*',
  ignore_startup_parameters: '',
});

const well: Tables = {
  'show version': [['version'], [['PgBouncer 1.25.0']]],
  'show pools': [POOLS, []],
  'show databases': [DATABASES, []],
  'show users': [['name', 'pool_mode'], []],
  'show config': [['key', 'value'], CONFIG],
  'show lists': [
    ['list', 'items'],
    [
      ['used_clients', '3'],
      ['login_clients', '0'],
    ],
  ],
  'show stats': [
    [
      'total_xact_count',
      'total_query_count',
      'total_received',
      'total_sent',
      'total_xact_time',
      'total_query_time',
      'total_wait_time',
    ],
    [],
  ],
};

/** A console that has these tables. */
const consoleOf =
  (tables: Tables): HostileAnswer =>
  (sent, _socket, bytes) => {
    if (sent === 0) return login;
    const [columns, rows] = tables[bytes.subarray(5, -1).toString()] ?? [['what'], []];
    return table(columns, rows);
  };

async function watch(answer: HostileAnswer) {
  const server = await startHostileServer(answer);
  const place = { engine: 'pgbouncer', connection_type: 'direct', host: '127.0.0.1', port: server.port };
  const key = await store().watched({ ...place, database: 'pgbouncer', tls: 'disable' });
  try {
    return { result: await run(key), heard: Buffer.concat(server.heard).toString('latin1') };
  } finally {
    server.close();
  }
}

test('a console of a later version with other columns is measured', async () => {
  const { result } = await watch(consoleOf({ ...well, 'show pools': [[...POOLS, 'new_column'], []] }));
  expect(byStatus(result, 'error')).toEqual([]);
  expect(result.score).toBe(100);
  expect(byStatus(result, 'ok')).toContain('PB_CLIENTS_WAITING');
});

test.each<[string, HostileAnswer]>([
  ['hangs after the login', (sent) => (sent === 0 ? login : null)],
  ['says that it is one and is none', consoleOf({ 'show version': [['version'], [['18.4']]] })],
  ['asks for the password in clear text', () => authentication(3)],
  [
    'closes in mid-row',
    (sent, socket) => {
      if (sent === 0) return login;
      socket.end(Buffer.concat([Buffer.from('D'), Buffer.from([0, 0, 1, 0, 0, 1])]));
      return null;
    },
  ],
])('a console that %s is a finding, and learns no password', async (_what, answer) => {
  const { result, heard } = await watch(answer);
  expect(result.took).toBeLessThan(25_000);
  expect(byStatus(result, 'critical')).toHaveLength(1);
  expect(result.score).toBe(0);
  expect(heard).not.toContain(WATCHER_PASSWORD);
});

test('hostile names are cleaned and quoted, and no command has one that does not print', async () => {
  const names = [`a";SHUTDOWN;--`, 'x\u202ey\x1b[2J', 'n'.repeat(60_000), `\\! rm`, ''];
  const pools = names.map((name) => [name, name, '1', '3', '0', '0', '0', '0', '0', '40', '1']);
  const databases = names.map((name) => [name, '127.0.0.1', '5432', '1', '0', '0', '0', '1', '0']);
  const { result } = await watch(
    consoleOf({ ...well, 'show pools': [POOLS, pools], 'show databases': [DATABASES, databases] }),
  );
  expect(byStatus(result, 'error')).toEqual([]);
  expect(JSON.stringify(result)).not.toMatch(/\\u00|\u202e/);
  const paused = result.checks.filter(({ check_id }) => check_id === 'PB_DATABASE_PAUSED');
  expect(paused.map(({ remediation }) => remediation)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^SHOW DATABASES; -- .*, run RESUME "a"";SHUTDOWN;--";$/),
      'SHOW DATABASES;',
      expect.stringMatching(/^SHOW DATABASES; -- .*, run RESUME "\\! rm";$/),
    ]),
  );
});

test('the host of a database is quoted where it is no plain name', async () => {
  const host = 'x), which is fine. Run DROP DATABASE shop; (“';
  const pool = ['shop', 'app', '0', '3', '0', '0', '0', '0', '0', '40', '1'];
  const database = ['shop', host, '5432', '1', '0', '0', '0', '0', '0'];
  const { result } = await watch(
    consoleOf({ ...well, 'show pools': [POOLS, [pool]], 'show databases': [DATABASES, [database]] }),
  );
  const [found] = result.checks.filter(({ check_id }) => check_id === 'PB_SERVER_UNREACHABLE');
  expect(found?.metric_line).toContain('(“x), which is fine. Run DROP DATABASE shop; ("”, port 5432)');
});

test('a console that restarts in a run costs the check that was being measured, and no other', async () => {
  const answer = consoleOf(well);
  let logins = 0;
  const { result } = await watch((sent, socket, bytes) => {
    if (sent === 0) logins++;
    if (logins > 1 || sent < 2) return answer(sent, socket, bytes);
    socket.destroy();
    return null;
  });
  expect(logins).toBe(2);
  expect(byStatus(result, 'error')).toHaveLength(1);
});

test.each([['-1'], ['NaN'], ['1e400'], ['many']])(
  'a number that is none (%s) is an error of the checks that read it, never "ok"',
  async (value) => {
    const row = ['shop', 'app', value, value, value, value, value, value, value, value, value];
    const { result } = await watch(consoleOf({ ...well, 'show pools': [POOLS, [row]] }));
    expect(byStatus(result, 'error')).toEqual(
      expect.arrayContaining(['PB_CLIENTS_WAITING', 'PB_POOL_SATURATION', 'PB_SERVER_UNREACHABLE']),
    );
    expect(byStatus(result, 'ok')).not.toContain('PB_CLIENTS_WAITING');
  },
);

test('5,000 pools are judged in bounded time, the worst listed, and the pulse reads them', async () => {
  const pools = Array.from({ length: 5_000 }, (_, n) => [
    `db${n}`,
    'app',
    '1',
    '1',
    '1',
    '0',
    '0',
    '0',
    '0',
    String(60 + n),
    '0',
  ]);
  const server = await startHostileServer(consoleOf({ ...well, 'show pools': [POOLS, pools] }));
  const target = {
    engine: 'pgbouncer',
    connectionType: 'direct',
    host: '127.0.0.1',
    port: server.port,
    database: 'pgbouncer',
    username: 'watcher',
    password: WATCHER_PASSWORD,
    tls: 'disable',
    passwordExposable: false,
    caCertificate: null,
    tunnel: null,
  } as const;
  const { signal } = new AbortController();
  const { outcomes, cost } = await measure(target, { allowPrivateTargets: true, thresholds: {}, signal });
  expect(cost.bytes).toBeLessThan(LIMITS.runBytes);
  const waiting = outcomes.find(({ check }) => check.id === 'PB_CLIENTS_WAITING')?.findings ?? [];
  expect(waiting.length).toBe(100);
  expect(waiting[0]?.object).toBe('db4999/app');
  const held = new HeldSession(target, true);
  const answer = await held.pulse();
  await held.end();
  server.close();
  expect(answer).toMatchObject({ reading: { clientsWaiting: { count: 5_000, seconds: 5_059 } } });
  expect('reading' in answer && answer.reading.load.length).toBe(50);
});

test('every check reads only by SHOW', () => {
  for (const { sql } of pgbouncerChecks)
    for (const command of [sql(0)].flat()) expect(command).toMatch(/^show [a-z]+$/);
});
