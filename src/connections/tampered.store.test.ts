import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { authentication, type HostileServer, startHostileServer } from '../../test/support/hostile-server.ts';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { changeAccount } from '../activity/record-entry.ts';
import type { ConnectionKey } from '../monitor/monitor-deps.ts';
import { runHealthCheck } from '../monitor/run.ts';
import type { StoredCheck } from '../monitor/store-run.ts';
import { changeConnection } from './change-connection.ts';
import { parseConnectionUrl } from './connection-url.ts';
import { readSecrets } from './credentials.ts';
import type { ConnectionChanges } from './require-changeable.ts';

// The owner of the store's database changes rows by hand. `evil` asks for the password in clear text and records what
// it receives.

let store: TestStore;
let owner: pg.Client;
let evil: HostileServer;
beforeAll(async () => {
  store = await startTestStore();
  owner = await store.superuser('store');
});
beforeEach(async () => {
  store.said.length = 0;
  evil = await startHostileServer(() => authentication(3));
});
afterEach(() => evil.close());
afterAll(() => store.stop());

const PASSWORD = 'unspoken-tampered';

async function run(key: ConnectionKey): Promise<StoredCheck> {
  const stored = await runHealthCheck(store.deps, key);
  if (!stored) throw new Error('nothing was stored');
  return stored;
}

async function update(key: ConnectionKey, assignments: string): Promise<void> {
  const text = `update connection set ${assignments.replaceAll('EVIL', String(evil.port))} where connection_id = $1`;
  await owner.query(text, [key.connectionId]);
}

async function entries({ accountId }: ConnectionKey): Promise<unknown[]> {
  const text = `select properties from activity where account_id = $1 and action_type = 'connection_tampered'`;
  return (await owner.query<{ properties: unknown }>(text, [accountId])).rows.map((row) => row.properties);
}

/** Nothing reached the owner's server. The finding, the service's log and the account's log give the reason. */
async function expectRefused(key: ConnectionKey, reason: RegExp): Promise<void> {
  const { score, checks } = await run(key);
  expect(evil.connections()).toBe(0);
  expect(Buffer.concat(evil.heard).toString()).toBe('');
  expect(score).toBe(0);
  expect(checks).toMatchObject([
    { check_id: 'CONN_AUTH_FAILED', status: 'critical', metric_line: expect.stringMatching(reason) },
  ]);
  expect(store.said).toContainEqual({ level: 'error', message: expect.stringMatching(/^tampering: /) });
  expect(await entries(key)).toEqual([{ connection_id: key.connectionId, name: 'test' }]);
}

const direct = () => ({ connection_type: 'direct', host: 'db.example.com', port: 5432, tls: 'verify-full' });
const CHANGED = /^No login was tried: its stored settings were changed outside dbvitals/;

test.each([
  [
    'host, port, TLS and exposure',
    `host = '127.0.0.1', port = EVIL, tls = 'disable', password_exposable = true`,
  ],
  [
    'a list of hosts',
    `host = '127.0.0.1:EVIL,db.example.com:5432', tls = 'disable', password_exposable = true`,
  ],
  [
    'an engine',
    `engine = 'mysql', host = '127.0.0.1', port = EVIL, tls = 'disable', password_exposable = true`,
  ],
  [
    'an SSH server',
    `connection_type = 'ssh_tunnel', ssh_host = '127.0.0.1', ssh_port = EVIL, ssh_username = 'tunnel'`,
  ],
  ['TLS alone', `tls = 'disable'`],
  ['the host name’s verification', `tls = 'verify-ca'`],
  ['exposure alone', 'password_exposable = true'],
  ['an authority', `ca_certificate = 'a certificate'`],
  ['the user', `username = 'postgres'`],
  ['the database', `database = 'other'`],
])('the owner of the store changes %s: no byte of the password is sent', async (_what, assignments) => {
  const key = await store.watched(direct(), PASSWORD);
  await update(key, assignments);
  await expectRefused(key, CHANGED);
});

test('the account’s log records it once, however often the check runs', async () => {
  const key = await store.watched(direct(), PASSWORD);
  await update(key, `host = '127.0.0.1', port = EVIL`);
  await run(key);
  await run(key);
  expect(await entries(key)).toHaveLength(1);
});

test('the credential or SSH server of another connection can’t be used', async () => {
  const key = await store.watched(
    { ...direct(), host: '127.0.0.1', port: evil.port, tls: 'disable' },
    'mine',
  );
  const other = { ...key, connectionId: await store.connection(key.accountId, direct()) };
  await store.set(other, {}, { password: PASSWORD });
  const from = `(select credential from connection where connection_id = ${other.connectionId})`;
  await update(key, `credential = ${from}`);
  await expectRefused(key, CHANGED);
});

test('an SSH server that the database owner substituted gets no login', async () => {
  const ssh = { ssh_host: 'bastion.example.com', ssh_port: 22, ssh_username: 'tunnel' };
  const tunnelled = { connection_type: 'ssh_tunnel', host: 'db.internal' };
  const key = await store.watched(tunnelled, PASSWORD);
  await store.set(key, { ...ssh, ssh_host_key: 'known' }, { password: PASSWORD, sshKey: 'a private key' });
  for (const assignments of [
    `ssh_host = '127.0.0.1', ssh_port = EVIL`,
    `ssh_username = 'root'`,
    'ssh_host_key = null',
    'ssh_credential = null',
  ]) {
    await owner.query('begin');
    await update(key, assignments);
    await owner.query('commit');
    expect((await run(key)).checks[0]?.metric_line).toMatch(CHANGED);
    expect(evil.connections()).toBe(0);
    await store.set(key, { ...ssh, ssh_host_key: 'known' }, { password: PASSWORD, sshKey: 'a private key' });
  }
});

test('a Unix socket that a tampered row names is not opened with the service’s own identity', async () => {
  const key = await store.watched({ tls: 'disable' }, PASSWORD);
  await update(key, `credential = null, username = 'postgres'`);
  await expectRefused(key, /its stored password was removed outside dbvitals/);
});

test('a password entered again after tampering is not sent to settings that the database owner chose', async () => {
  const key = await store.watched(direct(), PASSWORD);
  await update(
    key,
    `host = '127.0.0.1', port = EVIL, tls = 'disable', password_exposable = true, connection_type = 'ssh_tunnel',
     ssh_host = '127.0.0.1', ssh_port = EVIL, ssh_username = 'tunnel', ca_certificate = 'a certificate'`,
  );
  const change = (changes: ConnectionChanges) =>
    changeConnection(
      (work) => changeAccount(store.writer, key.accountId, work),
      store.deps.secret,
      key.connectionId,
      changes,
    );
  // Even if the owner makes it look like sample data, which is never checked.
  await expect(change({ password: 'unspoken-anew' })).rejects.toThrow(/changed outside dbvitals/);
  const schedule = `insert into connection_schedule (account_id, connection_id, every, due_at) values ($1, $2, '1 h', now())`;
  await owner.query(schedule, [key.accountId, key.connectionId]);
  await expect(change({ password: 'unspoken-anew' })).rejects.toThrow(
    /changed outside dbvitals. Check its settings, then enter its address and password again/,
  );
  await expect(change({ tls: 'verify-full' })).rejects.toThrow(/changed outside dbvitals/);
  const address = parseConnectionUrl('postgres://watcher@db.example.com/shop');
  await change({ address, password: 'unspoken-anew' });
  const text = `select connection_type, host, tls, password_exposable, ca_certificate from connection where connection_id = $1`;
  const { rows } = await owner.query(text, [key.connectionId]);
  expect(rows).toEqual([
    {
      connection_type: 'direct',
      host: 'db.example.com',
      tls: 'verify-full',
      password_exposable: false,
      ca_certificate: null,
    },
  ]);
  const secrets = await readSecrets(store.writer, store.deps.secret, key);
  expect(secrets).toEqual({ password: 'unspoken-anew', sshKey: null });
});
