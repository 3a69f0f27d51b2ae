import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  afterLogin,
  authentication,
  message,
  startHostileServer,
} from '../../test/support/hostile-server.ts';
import { startTestStore, type TestStore, WATCHER_PASSWORD } from '../../test/support/store.ts';
import { connectionFindings } from '../checks/connection-findings.ts';
import { PG_PRIVILEGE_MISSING } from '../checks/postgres/postgres-catalogue.ts';
import { postgresChecks } from '../checks/postgres/postgres-checks.ts';
import { LIMITS } from './limits.ts';
import { runHealthCheck } from './run.ts';
import {
  adviceOf,
  crashes,
  direct,
  entriesOf,
  instructions,
  type Key,
  logged,
  NEVER_CONTACTED,
  runOnce,
  secret,
  statusOf,
  target,
  ticketsOf,
} from './run-fixture.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

/** A connection with the stored password `watching`, which is the right one by default. */
const watched: TestStore['watched'] = (given, password) => store.watched(given, password);
const run = (key: Key, limits?: typeof LIMITS) => runOnce(store, key, limits);
const LATE_RETRY = { ...LIMITS, betweenTriesMs: 60_000 };
const tickets = (key: Key) => ticketsOf(store, key);
const entries = (key: Key) => entriesOf(store, key);

test('a run of a healthy database lists every check, and is stored and logged', async () => {
  const key = await watched();
  const stored = await run(key);
  expect(stored.score).toBeGreaterThanOrEqual(80);
  const listed = new Set(stored.checks.map(({ check_id }) => check_id));
  expect([...listed].sort()).toEqual(
    [...connectionFindings, PG_PRIVILEGE_MISSING, ...postgresChecks].map(({ id }) => id).sort(),
  );
  expect(stored.checks.filter(({ status }) => status === 'error' || status === 'critical')).toEqual([]);
  expect(Object.keys(stored.checks[0] ?? {}).sort()).toEqual(
    ['category', 'check_id', 'metric_line', 'remediation', 'severity', 'status', 'title'].sort(),
  );
  const { rows } = await store.writer.query(
    `select h.score, h.summary_text, h.created_at from connection c
       join health_check h on h.account_id = c.account_id and h.health_check_id = c.latest_check_id
      where c.account_id = $1`,
    [key.accountId],
  );
  const { score, summary_text, created_at } = stored;
  expect(rows).toEqual([{ score, summary_text, created_at: new Date(created_at) }]);
  expect((await entries(key))[0]).toEqual({
    action_type: 'health_check_completed',
    page_path: `/health/connections/${key.connectionId}`,
    properties: { connection_id: key.connectionId, score, health_check_id: stored.id },
  });
});

test('every database that the login can connect to is measured, and hostile names do no harm', async () => {
  const root = await store.superuser();
  const strange = 'shop\u202e\n"x"';
  await root.query('create database plain');
  await root.query('create database closed');
  await root.query('revoke connect on database closed from public');
  await root.query(`create database "${strange.replaceAll('"', '""')}"`);
  for (const name of ['plain', 'closed', strange]) {
    const client = await store.superuser(name);
    await client.query('create table keyless (a int)');
    await client.end();
  }
  const key = await watched();
  const stored = await run(key);
  const { rows } = await store.writer.query(
    `select database from ticket where account_id = $1 and check_id = 'PG_NO_PRIMARY_KEY' order by database`,
    [key.accountId],
  );
  expect(rows.map(({ database }) => database)).toEqual([String.raw`U&"shop\202E\000A""x"""`, 'plain']);
  expect(JSON.stringify(stored)).not.toMatch(/\u202e/);
  await root.query('drop database plain');
  await root.query(`drop database "${strange.replaceAll('"', '""')}"`);
  await run(key);
  expect((await tickets(key)).every(({ status }) => status === 'resolved')).toBe(true);
});

test('a database that accepts no connection keeps its tickets and does not affect others’', async () => {
  const root = await store.superuser();
  await root.query('create database cramped');
  const cramped = await store.superuser('cramped');
  for (const client of [root, cramped]) await client.query('create table keyless (a int)');
  const key = await watched();
  await run(key);
  await root.query('alter database cramped connection limit 1');
  for (const client of [root, cramped]) await client.query('drop table keyless');
  const stored = await run(key);
  const finding = stored.checks.find(({ check_id }) => check_id === 'PG_NO_PRIMARY_KEY');
  expect(finding).toMatchObject({
    status: 'error',
    metric_line: expect.stringMatching(/^Database cramped: Not/),
  });
  const text = `select database, status from ticket
                 where account_id = $1 and check_id = 'PG_NO_PRIMARY_KEY' order by database`;
  expect((await store.writer.query(text, [key.accountId])).rows).toEqual([
    { database: 'cramped', status: 'open' },
    { database: 'postgres', status: 'resolved' },
  ]);
  await cramped.end();
  await root.query('drop database cramped');
});

describe('the log at debug', () => {
  test('has a line for each step of a run, and none at level info', async () => {
    const root = await store.superuser();
    const strange = 'shop\u202e\u009b31m\n"x"';
    await root.query(`create database "${strange.replaceAll('"', '""')}"`);
    const key = await watched();
    const at = (level: string) => logged(level, (log) => runHealthCheck({ ...store.deps, log }, key));
    const { text, steps } = await at('debug');
    const names = steps.map(({ step }) => step).filter((step) => step !== 'check' && step !== 'vitals');
    const once = names.filter((name, n) => name !== names[n - 1]);
    expect(once).toEqual(['load', 'connect', 'measure', 'silence', 'store']);
    for (const step of steps) {
      expect(step).toMatchObject({ level: 20, accountId: key.accountId, connectionId: key.connectionId });
    }
    const ofServer = postgresChecks.filter(({ scope }) => scope === 'server').length;
    const ofEach = postgresChecks.length - ofServer;
    const checks = steps.filter(({ step }) => step === 'check');
    const databases = new Set(checks.map(({ database }) => database).filter((name) => name !== ''));
    expect(checks).toHaveLength(ofServer + ofEach * databases.size);
    expect(databases).toContain('shop 31m\n"x"');
    expect(new Set(checks.map(({ check_id }) => check_id)).size).toBe(postgresChecks.length);
    expect(text).not.toMatch(/[\u007f-\u009f\u202e\u2028]/);
    expect(text).not.toContain(WATCHER_PASSWORD);
    expect((await at('info')).steps).toEqual([]);
    await root.query(`drop database "${strange.replaceAll('"', '""')}"`);
  });

  test('says why a connection failed', async () => {
    const key = await watched({ ...direct(1) });
    const { steps } = await logged('debug', (log) => runHealthCheck({ ...store.deps, log }, key));
    const failed = { host: '127.0.0.1', port: 1, failure: 'connection refused (ECONNREFUSED)' };
    expect(steps.filter(({ step }) => step === 'connect')).toEqual(
      Array(3).fill(expect.objectContaining(failed)),
    );
  });

  test('has the exception of a measuring process, without a secret', async () => {
    // No host: what our own code throws.
    const host = null as unknown as string;
    const { text, steps } = await crashes({ target: { ...target, host }, instructions });
    expect(steps.find(({ step }) => step === 'crash').stack).toMatch(/^TypeError: .*\n\s*at /);
    expect(text).not.toContain(secret);
  });

  test('has the output of a measuring process that crashed', async () => {
    // More than fits in its heap.
    const before = [{ checkId: 'X', database: 'a', rows: Array(4_000_000).fill({ a: 1 }), seconds: 1 }];
    const { text, steps } = await crashes({ target, instructions: { ...instructions, before } });
    expect(steps.find(({ step }) => step === 'crash').stderr).toContain('heap out of memory');
    expect(text).not.toContain(secret);
  });
});

describe('a database that can’t be measured', () => {
  test('a refused connection: three tries, score 0, one finding, one ticket that the next success resolves', async () => {
    const key = await watched({ ...direct(1) });
    const stored = await run(key, LIMITS);
    expect(stored).toMatchObject({ score: 0, checks: [{ status: 'critical' }] });
    expect(adviceOf(stored)).toMatch(
      /^CONN_UNREACHABLE .*127.0.0.1:1 in 3 tries: connection refused.* Start the server/,
    );
    expect(await tickets(key)).toEqual([{ check_id: 'CONN_UNREACHABLE', status: 'open' }]);

    const { rows } = await store.writer.query('select host from connection where account_id <> $1 limit 1', [
      key.accountId,
    ]);
    await store.set(key, { connection_type: 'unix_socket', host: rows[0].host, port: 5432 });
    expect((await run(key)).score).toBeGreaterThan(0);
    expect(await tickets(key)).toContainEqual({ check_id: 'CONN_UNREACHABLE', status: 'resolved' });
    expect((await entries(key)).map(({ action_type }) => action_type)).toContain('ticket_resolved');
  });

  test('an unreachable run leaves the other tickets unchanged', async () => {
    const root = await store.superuser();
    await root.query('create table keyless (a int)');
    const key = await watched();
    await run(key);
    await store.set(key, { port: 5999 });
    await run(key);
    await root.query('drop table keyless');
    expect(await tickets(key)).toEqual([
      { check_id: 'PG_NO_PRIMARY_KEY', status: 'open' },
      { check_id: 'CONN_UNREACHABLE', status: 'open' },
    ]);
  });

  test('a wrong password is reported without a retry', async () => {
    const began = Date.now();
    const stored = await run(await watched({}, 'wrong'), LATE_RETRY);
    expect(Date.now() - began).toBeLessThan(LATE_RETRY.betweenTriesMs);
    expect(stored).toMatchObject({ score: 0, checks: [{ check_id: 'CONN_AUTH_FAILED' }] });
    expect(adviceOf(stored)).toMatch(/28P01.* Check the login and its password/);
  });

  test('a server with all connections in use reports saturation and judges nothing else', async () => {
    const root = await store.superuser();
    await root.query(`create role crowded login password '${WATCHER_PASSWORD}' connection limit 0`);
    const stored = await run(await watched({ username: 'crowded' }));
    expect(stored.score).toBeLessThan(50);
    expect(stored.checks[0]).toMatchObject({ check_id: 'PG_CONN_SATURATION', status: 'critical' });
    expect(adviceOf(stored)).toMatch(/its own limit.* the limit of the role or database/);
    expect(statusOf(stored, 'CONN_UNREACHABLE')).toBe('ok');
    expect(stored.checks.filter(({ status }) => status === 'error')).toHaveLength(postgresChecks.length + 2);
  });

  test.each([
    ['clear text', 3],
    ['MD5', 5],
  ])('a server that asks for the password as %s gets no byte of it', async (_name, kind) => {
    const server = await startHostileServer((sent) => (sent === 0 ? authentication(kind) : null));
    const stored = await run(await watched(direct(server.port)));
    server.close();
    expect(adviceOf(stored)).toMatch(
      /^CONN_AUTH_FAILED .*in clear text or as MD5.* Let the server ask for SCRAM/,
    );
    expect(server.connections()).toBe(1);
    expect(server.heard).toEqual([]);
  });

  test('a server without TLS gets no data if the connection requires TLS', async () => {
    const server = await startHostileServer(() => Buffer.from('N'));
    const stored = await run(await watched({ ...direct(server.port), tls: 'verify-full' }));
    server.close();
    expect(adviceOf(stored)).toMatch(/^CONN_UNREACHABLE .*does not support TLS. Turn on TLS on the server/);
    expect(server.heard).toEqual([]);
  });

  test.each<[string, (sent: number) => Buffer]>([
    ['an authentication of no known kind', () => authentication(99)],
    ['17 MiB of unrequested data', () => message('N', Buffer.alloc(17 * 1024 * 1024))],
  ])('a server that answers by %s is unreachable, and the monitor lives', async (_what, answer) => {
    const server = await startHostileServer(answer);
    const stored = await run(await watched(direct(server.port)));
    server.close();
    expect(stored.checks).toMatchObject([{ check_id: 'CONN_UNREACHABLE' }]);
  });

  test('a server that falls silent after the login is reported as unreachable in bounded time', async () => {
    const server = await startHostileServer(afterLogin(() => null));
    const began = Date.now();
    const stored = await run(await watched(direct(server.port)), LIMITS);
    server.close();
    expect(Date.now() - began).toBeLessThan(100_000);
    expect(statusOf(stored, 'CONN_UNREACHABLE')).toBe('critical');
    expect(stored).toMatchObject({ score: 0, checks: { length: 1 } });
  });

  test.each(NEVER_CONTACTED)(
    '%s is not contacted (private targets allowed: %s)',
    async (host, allowPrivateTargets) => {
      const server = await startHostileServer(() => null);
      const key = await watched({ ...direct(server.port), host });
      const began = Date.now();
      const stored = await runHealthCheck({ ...store.deps, allowPrivateTargets, limits: LATE_RETRY }, key);
      server.close();
      expect(Date.now() - began).toBeLessThan(LATE_RETRY.betweenTriesMs);
      expect(stored?.checks).toMatchObject([{ check_id: 'CONN_UNREACHABLE' }]);
      expect(stored?.checks[0]?.metric_line).toMatch(/never contacts|DBVITALS_ALLOW_PRIVATE_TARGETS/);
      expect(server.connections()).toBe(0);
    },
  );
});

test('nothing is stored if the secret key does not decrypt the password', async () => {
  const key = await watched();
  await expect(runHealthCheck({ ...store.deps, secret: [randomBytes(32)] }, key)).rejects.toThrow(
    "can't be decrypted",
  );
  expect(await entries(key)).toEqual([]);
});

test('nothing is stored if the connection is removed during the run', async () => {
  const server = await startHostileServer(() => null);
  const key = await watched(direct(server.port));
  const running = runHealthCheck(store.deps, key);
  await store.writer.query('update connection set removed_at = now() where account_id = $1', [key.accountId]);
  server.close();
  expect(await running).toBeNull();
  expect(await entries(key)).toEqual([]);
  expect(await runHealthCheck(store.deps, key)).toBeNull();
});
