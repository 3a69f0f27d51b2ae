import { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  afterLogin,
  authentication,
  drip,
  endless,
  type HostileAnswer,
  login,
  message,
  readyForQuery,
  startHostileServer,
} from '../../../test/support/hostile-server.ts';
import { byStatus, shortRuns } from '../../../test/support/short-runs.ts';
import { WATCHER_PASSWORD } from '../../../test/support/store.ts';
import { postgresChecks } from '../../checks/postgres/postgres-checks.ts';
import { LIMITS } from '../limits.ts';
import type { StoredCheck } from '../store-run.ts';

const { store, run } = shortRuns();
const watched = (given?: Record<string, unknown>) => store().watched(given);

const text = (value: string) => Buffer.from(`${value}\0`);
const field = (name: string, type = 25) => {
  const oid = Buffer.alloc(4);
  oid.writeUInt32BE(type);
  return Buffer.concat([text(name), Buffer.alloc(6), oid, Buffer.alloc(8)]);
};
const oneColumn = message('T', Buffer.concat([Buffer.from([0, 1]), field('version')]));

/** A row that claims to be 1 GiB long. */
const endlessRow: HostileAnswer = (sent, socket, bytes) => {
  const length = Buffer.from([0x40, 0, 0, 0]);
  socket.write(Buffer.concat([oneColumn, Buffer.from('D'), length, Buffer.from([0, 1]), length]));
  return endless(sent, socket, bytes);
};

const hugeCount: HostileAnswer = (sent, _socket, bytes) => {
  if (sent === 0) return authentication(10, Buffer.from('SCRAM-SHA-256\0\0'));
  const nonce = /r=(.*)$/.exec(bytes.toString())?.[1] ?? '';
  const salt = Buffer.from('salt').toString('base64');
  return authentication(11, Buffer.from(`r=${nonce}server,s=${salt},i=2000000000`));
};

const unproved: HostileAnswer = (sent) =>
  sent === 0 ? authentication(10, Buffer.from('SCRAM-SHA-256\0\0')) : login;

const rude = message(
  'E',
  Buffer.concat([text('SFATAL'), text('CXX000'), text('Mno\x1b[2J \u202eway\x07'), Buffer.from([0])]),
);

test.each<[string, HostileAnswer, string[]]>([
  ['hangs', () => null, ['CONN_UNREACHABLE']],
  ['hangs after the login', afterLogin(() => null), ['CONN_UNREACHABLE']],
  ['drips a byte at a time', drip, ['CONN_UNREACHABLE']],
  ['drips after the login', afterLogin(drip), ['CONN_UNREACHABLE']],
  ['sends without end', endless, ['CONN_UNREACHABLE']],
  ['sends an endless row', afterLogin(endlessRow), ['CONN_UNREACHABLE']],
  ['asks for the password in clear text', () => authentication(3), ['CONN_AUTH_FAILED']],
  ['asks for a password as MD5', () => authentication(5), ['CONN_AUTH_FAILED']],
  ['asks for 2,000,000,000 rounds of SCRAM', hugeCount, ['CONN_AUTH_FAILED']],
  ['accepts a SCRAM login without its signature', unproved, ['CONN_AUTH_FAILED']],
  [
    'closes in mid-row',
    afterLogin((_sent, socket) => {
      socket.end(Buffer.concat([oneColumn, Buffer.from('D'), Buffer.from([0, 0, 1, 0, 0, 1])]));
      return null;
    }),
    ['CONN_UNREACHABLE'],
  ],
  ['sends control characters', () => rude, ['CONN_UNREACHABLE']],
  [
    'sends control characters after the login',
    afterLogin(() => Buffer.concat([rude, readyForQuery])),
    ['CONN_UNREACHABLE'],
  ],
])(
  'a server that %s costs bounded time and bytes, learns no password and delays no other check',
  async (_what, answer, critical) => {
    const server = await startHostileServer(answer);
    const place = { connection_type: 'direct', host: '127.0.0.1', port: server.port, tls: 'disable' };
    const [strange, plain] = await Promise.all([watched(place), watched()]);
    const [result, other] = await Promise.all([run(strange), run(plain)]);
    server.close();
    expect(result.took).toBeLessThan(25_000);
    expect(result.cost.bytes).toBeLessThan(LIMITS.runBytes + 1024 * 1024);
    expect(byStatus(result, 'critical')).toEqual(critical);
    expect(JSON.stringify(result)).not.toMatch(/\\u00|\u202e/);
    expect(Buffer.concat(server.heard).toString('latin1')).not.toContain(WATCHER_PASSWORD);
    expect(other.took).toBeLessThan(15_000);
    expect(byStatus(other, 'ok')).toContain('CONN_UNREACHABLE');
  },
);

/** The children of this process that measure. */
function measuring(): ChildProcess[] {
  const handles: unknown = Reflect.get(process, '_getActiveHandles').call(process);
  if (!Array.isArray(handles)) return [];
  return handles.filter(
    (handle): handle is ChildProcess => handle instanceof ChildProcess && handle.exitCode === null,
  );
}

test.each<[string, NodeJS.Signals, RegExp, number]>([
  ['is killed', 'SIGKILL', /ended early/, 10_000],
  ['no longer moves', 'SIGSTOP', /took too long/, 25_000],
])(
  'a child that %s is reported, tickets stay unchanged, and the next run succeeds',
  async (_what, signal, why, within) => {
    const server = await startHostileServer(() => null);
    const place = { connection_type: 'direct', host: '127.0.0.1', port: server.port, tls: 'disable' };
    const strange = await watched(place);
    const ticket = `
    insert into ticket (account_id, connection_id, check_id, category, title, severity, status, metric_line,
                        remediation, first_seen_at, last_seen_at)
    values ($1, $2, 'CONN_UNREACHABLE', 'availability', 't', 'critical', 'open', 'm', 'r', now(), now())`;
    await store().writer.query(ticket, [strange.accountId, strange.connectionId]);
    const running = run(strange);
    while (server.connections() === 0) await wait(10);
    for (const child of measuring()) child.kill(signal);
    const result = await running;
    server.close();
    expect(result.took).toBeLessThan(within);
    expect(byStatus(result, 'critical')).toEqual(['CONN_UNREACHABLE']);
    expect(byStatus(result, 'error')).toHaveLength(result.checks.length - 1);
    expect(result.checks[0]?.metric_line).toMatch(why);
    const text = 'select status from ticket where account_id = $1';
    expect((await store().writer.query(text, [strange.accountId])).rows).toEqual([{ status: 'open' }]);
    expect(byStatus(await run(await watched()), 'ok')).toContain('CONN_UNREACHABLE');
  },
);

/** A server of two databases that answers what every run asks first, and then as `answer` says. */
function startSlowServer(answer: (sent: number, bytes: Buffer) => Buffer | null) {
  const done = (what: string) => message('C', text(what));
  const databases = Buffer.from('{postgres,other}');
  const row = message(
    'D',
    Buffer.concat([
      Buffer.from([0, 2, 0, 0, 0]),
      Buffer.from([6]),
      Buffer.from('180004'),
      Buffer.from([0, 0, 0, databases.length]),
      databases,
    ]),
  );
  const columns = message(
    'T',
    Buffer.concat([Buffer.from([0, 2]), field('version', 23), field('databases', 1009)]),
  );
  const frame = [done('BEGIN'), ...Array.from({ length: 4 }, () => done('SET'))];
  const facts = Buffer.concat([...frame, columns, row, done('SELECT 1'), done('ROLLBACK'), readyForQuery]);
  return startHostileServer((sent, _socket, bytes) => {
    if (sent === 0) return login;
    const isFirst = bytes.includes('setting_name') || bytes.includes('server_version_num');
    return isFirst ? facts : answer(sent, bytes);
  });
}

const late = message(
  'E',
  Buffer.concat([text('SERROR'), text('C57014'), text('Mtoo late'), Buffer.from([0])]),
);

const errorsOf = (result: StoredCheck) =>
  result.checks.filter(({ status }) => status === 'error').map(({ metric_line }) => metric_line);

/** The timer that the system keeps for the end of a connection at this port of this machine, and its seconds. */
function timerAt(port: number): [kind: 'keep-alive' | 'other', seconds: number] {
  const place = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const line = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .find((one) => one.trim().split(/\s+/)[1] === place);
  const [kind, hundredths = ''] = line?.trim().split(/\s+/)[5]?.split(':') ?? [];
  return [kind === '02' ? 'keep-alive' : 'other', Number.parseInt(hundredths, 16) / 100];
}

test('after ten silent seconds a login asks whether its server is still there', async () => {
  const port = Promise.withResolvers<number>();
  const server = await startHostileServer((_sent, socket) => {
    port.resolve(socket.remotePort ?? 0);
    return null;
  });
  const place = { connection_type: 'direct', host: '127.0.0.1', port: server.port, tls: 'disable' };
  const running = run(await watched(place));
  const login = await port.promise;
  await expect.poll(() => timerAt(login)[0], { interval: 20 }).toBe('keep-alive');
  expect(timerAt(login)[1]).toBeLessThanOrEqual(10);
  await running;
  server.close();
});

test('a statement that the server cancels costs no other check', async () => {
  const server = await startSlowServer(() => Buffer.concat([late, readyForQuery]));
  const place = { connection_type: 'direct', host: '127.0.0.1', port: server.port, tls: 'disable' };
  const result = await run(await watched(place));
  server.close();
  const asked = postgresChecks.map(({ scope }) => (scope === 'database' ? 2 : 1));
  expect(result.cost.statements).toBeGreaterThan(asked.length);
  const [cancelled, others] = [true, false].map((isCancelled) =>
    errorsOf(result).filter((line) => line.includes('its statement was cancelled') === isCancelled),
  );
  expect(cancelled).toHaveLength(postgresChecks.length);
  const none = 'Not measured: no check ran.';
  expect(others).toEqual([none, none]); // of the missing privileges, and of the checks that are incomplete
});

test('after a statement without an answer the run connects again, and after two it ends', async () => {
  const heard = () => Buffer.concat(server.heard).toString('latin1');
  let silences = 0;
  const server = await startSlowServer((_sent, bytes) => {
    if (!bytes.includes('pg_stat_activity')) return Buffer.concat([late, readyForQuery]);
    silences++;
    return null;
  });
  const place = { connection_type: 'direct', host: '127.0.0.1', port: server.port, tls: 'disable' };
  const result = await run(await watched(place));
  server.close();
  expect(silences).toBe(2);
  expect(server.connections()).toBe(2);
  expect(result.took).toBeLessThan(15_000);
  const lines = errorsOf(result);
  expect(lines.filter((line) => line.includes('did not answer within 0.7 s'))).toHaveLength(2);
  expect(lines.filter((line) => line.includes('the server no longer answers')).length).toBeGreaterThan(10);
  expect(heard()).not.toContain(WATCHER_PASSWORD);
});

test('a child gets the credential through a pipe, and no variables of the environment', async () => {
  const server = await startHostileServer(() => null);
  const place = { connection_type: 'direct', host: '127.0.0.1', port: server.port, tls: 'disable' };
  process.env['DBVITALS_SECRET_KEY'] = 'not to be seen';
  const running = run(await watched(place));
  while (server.connections() === 0) await wait(10);
  const children = measuring();
  expect(children.length).toBeGreaterThan(0);
  for (const { pid, spawnargs } of children) {
    const environment = process.platform === 'linux' ? readFileSync(`/proc/${pid}/environ`, 'utf8') : '';
    expect([...spawnargs, environment].join(' ')).not.toMatch(/watching|not to be seen|DBVITALS/);
  }
  await running;
  server.close();
  delete process.env['DBVITALS_SECRET_KEY'];
});
