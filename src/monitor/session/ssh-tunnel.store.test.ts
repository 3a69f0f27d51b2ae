import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Bastion, startBastion } from '../../../test/support/bastion.ts';
import { makeSshKey } from '../../../test/support/ssh-key.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import type { ConnectionKey } from '../monitor-deps.ts';
import { blockSession, findBlocking, requireReading } from '../pulse/blocking-fixture.ts';
import { HeldSession } from '../pulse/held-session.ts';
import { openLiveLook } from '../pulse/live-look.ts';
import { loadPulse } from '../pulse/load-pulse.ts';
import { startPulses } from '../pulse/start-pulses.ts';
import { runHealthCheck } from '../run.ts';
import type { StoredCheck } from '../store-run.ts';

const user = makeSshKey();
const another = makeSshKey();

let store: TestStore;
let bastion: Bastion;
beforeAll(async () => {
  store = await startTestStore();
  // It resolves `db.internal` to the test's PostgreSQL.
  const socket = join(store.address[0]?.host ?? '', '.s.PGSQL.5432');
  bastion = await startBastion(user, (host) => (host === 'db.internal' ? connect(socket) : null));
});
afterAll(async () => {
  bastion.close();
  await store.stop();
});

async function tunnelled(
  given: Record<string, unknown> = {},
  sshKey: string | null = user.private,
): Promise<ConnectionKey> {
  const key = await store.watched({ connection_type: 'ssh_tunnel', host: 'db.internal' });
  const ssh = { ssh_host: '127.0.0.1', ssh_port: bastion.port, ssh_username: 'tunnel' };
  await store.set(key, { ...ssh, ...given }, { sshKey });
  return key;
}

async function run(key: ConnectionKey, deps = store.deps): Promise<StoredCheck> {
  const stored = await runHealthCheck(deps, key);
  if (!stored) throw new Error('nothing was stored');
  return stored;
}

async function pinned({ accountId }: ConnectionKey): Promise<string | null> {
  const text = 'select ssh_host_key from connection where account_id = $1';
  return (await store.writer.query(text, [accountId])).rows[0].ssh_host_key;
}

const unreachable = (reason: RegExp, advice = /./) => [
  {
    check_id: 'CONN_UNREACHABLE',
    metric_line: expect.stringMatching(reason),
    remediation: expect.stringMatching(advice),
  },
];

test('a database is measured through a tunnel, the SSH server resolves its host, and the host key is pinned', async () => {
  const key = await tunnelled();
  expect(await pinned(key)).toBeNull();
  expect((await run(key)).score).toBeGreaterThan(0);
  expect(new Set(bastion.asked)).toEqual(new Set(['db.internal:5432']));
  expect(await pinned(key)).toBe(bastion.hostKey);
  expect((await run(key)).score).toBeGreaterThan(0);
});

test('a pulse keeps its tunnel, sees who blocks whom, and opens another when the SSH server ends it', async () => {
  const key = await tunnelled();
  await run(key); // which pins the key of the SSH server
  const loaded = await loadPulse(store.deps, key);
  const { tunnel } = loaded?.target ?? {};
  if (!loaded || !tunnel) throw new Error('it was not loaded');
  expect(tunnel.hostKey).toEqual(await pinned(key));
  const held = new HeldSession(loaded.target, true);
  onTestFinished(() => held.end());
  await blockSession(() => store.superuser());
  const before = bastion.asked.length;
  await findBlocking(held);
  expect(bastion.asked.slice(before)).toEqual(['db.internal:5432']);
  bastion.drop();
  expect(requireReading(await held.pulse()).waits).toHaveLength(1);
  expect(bastion.asked.slice(before)).toHaveLength(2);
  const changed = { ...loaded.target, tunnel: { ...tunnel, hostKey: 'x'.repeat(44) } };
  const refused = new HeldSession(changed, true);
  expect(await refused.pulse()).toMatchObject({
    failure: { reason: expect.stringMatching(/another host key/) },
  });
});

test('no pulse and no live look connects before a run has pinned the key of the SSH server', async () => {
  const key = await tunnelled();
  const before = bastion.asked.length;
  await expect(openLiveLook(store.deps, key)).rejects.toThrow(/run a health check first/);
  expect(bastion.asked).toHaveLength(before);
  const direct = await store.watched();
  await store.writer.query(
    `insert into connection_schedule (account_id, connection_id, every, due_at)
     select account_id, connection_id, '1 d', now() + interval '1 d' from connection where connection_id = any($1)`,
    [[key.connectionId, direct.connectionId]],
  );
  const pulses = startPulses({ ...store.deps, wake: () => {} }, 50);
  onTestFinished(() => pulses.stop());
  await waitFor(() => expect(pulses.running()).toBe(1));
  await run(key);
  await waitFor(() => expect(pulses.running()).toBe(2));
  const live = await openLiveLook(store.deps, key);
  expect(requireReading(await live?.look()).waits).toEqual([]);
  await live?.end();
});

test('an SSH server with another key than before is rejected and gets no login', async () => {
  const key = await tunnelled({ ssh_host_key: 'x'.repeat(44) });
  expect((await run(key)).checks).toMatchObject(
    unreachable(/another host key/, /^Ask the administrator of the SSH server/),
  );
  expect(await pinned(key)).toBe('x'.repeat(44));
});

test('a key that the SSH server does not know fails without a retry', async () => {
  const began = performance.now();
  const stored = await run(await tunnelled({}, another.private));
  expect(performance.now() - began).toBeLessThan(12_000);
  expect(stored.checks).toMatchObject(
    unreachable(/SSH server 127.0.0.1 refuses the login of tunnel/, /authorized_keys/),
  );
});

test('an unreachable host, an unreachable SSH server, and a private SSH server without private targets', async () => {
  expect((await run(await tunnelled({ host: 'nowhere.internal' }))).checks).toMatchObject(
    unreachable(/does not reach nowhere.internal:5432/),
  );
  expect((await run(await tunnelled({ ssh_port: 1 }))).checks).toMatchObject(unreachable(/ECONNREFUSED/));
  const careful = { ...store.deps, allowPrivateTargets: false };
  expect((await run(await tunnelled(), careful)).checks).toMatchObject(
    unreachable(/DBVITALS_ALLOW_PRIVATE_TARGETS/),
  );
});

test('without a key and without an agent, the message says what to give', async () => {
  const agent = process.env['SSH_AUTH_SOCK'];
  delete process.env['SSH_AUTH_SOCK'];
  const stored = await run(await tunnelled({}, null));
  if (agent !== undefined) process.env['SSH_AUTH_SOCK'] = agent;
  expect(stored.checks).toMatchObject(unreachable(/--ssh-key-file/));
});
