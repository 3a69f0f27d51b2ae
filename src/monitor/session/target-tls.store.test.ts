import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { authentication, startHostileServer } from '../../../test/support/hostile-server.ts';
import { startTestStore, type TestStore, WATCHER_PASSWORD } from '../../../test/support/store.ts';
import { AUTHORITY, startTlsFront } from '../../../test/support/tls-front.ts';
import { endIdleChildren, measureInChild } from '../children/measure-in-child.ts';
import { blockSession, findBlocking } from '../pulse/blocking-fixture.ts';
import { HeldSession } from '../pulse/held-session.ts';
import { loadPulse } from '../pulse/load-pulse.ts';
import { runHealthCheck } from '../run.ts';
import type { StoredCheck } from '../store-run.ts';
import { tlsOptions } from './tls-options.ts';

const authority = readFileSync(AUTHORITY, 'utf8');
const other = readFileSync(
  join(import.meta.dirname, '../../../test/certificates/receivers-authority.pem'),
  'utf8',
);

let store: TestStore;
let port: number;
beforeAll(async () => {
  store = await startTestStore();
  port = await startTlsFront(store.address[0]?.host ?? '');
});
afterAll(() => store.stop());

async function run(
  given: Record<string, unknown>,
  settings: Record<string, unknown> = {},
): Promise<StoredCheck> {
  const at = { connection_type: 'direct', host: 'localhost', port, tls: 'verify-full', ...given };
  const key = await store.watched(at);
  await store.set(key, settings);
  const stored = await runHealthCheck(store.deps, key);
  if (!stored) throw new Error('nothing was stored');
  return stored;
}

const anywhere = {
  ...({ engine: 'postgres', connectionType: 'direct', host: 'db', port: 5432, database: 'shop' } as const),
  username: 'watcher',
  password: null,
  passwordExposable: false,
  tunnel: null,
};

const unreachable = (reason: RegExp, advice = /./) => ({
  score: 0,
  checks: [
    {
      check_id: 'CONN_UNREACHABLE',
      metric_line: expect.stringMatching(reason),
      remediation: expect.stringMatching(advice),
    },
  ],
});

/** With the test's authority in NODE_EXTRA_CA_CERTS, which a process reads when it starts. */
async function withAuthority<T>(work: () => Promise<T>): Promise<T> {
  endIdleChildren();
  vi.stubEnv('NODE_EXTRA_CA_CERTS', AUTHORITY);
  try {
    return await work();
  } finally {
    vi.unstubAllEnvs();
    endIdleChildren();
  }
}

test('an authority of NODE_EXTRA_CA_CERTS is trusted', async () => {
  const stored = await withAuthority(() => run({}));
  expect(stored.score).toBeGreaterThan(0);
});

test('a certificate of an unknown authority is rejected with advice', async () => {
  expect(await run({})).toMatchObject(
    unreachable(/trusted authority/, /^Add the authority.*--ca-file.*NODE_EXTRA_CA_CERTS/),
  );
});

test('a certificate of the connection’s own authority is trusted', async () => {
  expect((await run({}, { ca_certificate: authority })).score).toBeGreaterThan(0);
});

test('a certificate for another name or address is rejected', async () => {
  const stored = await run({ host: '127.0.0.1' }, { ca_certificate: authority });
  expect(stored).toMatchObject(unreachable(/ERR_TLS_CERT_ALTNAME_INVALID/, /^Use a host name that/));
});

test('the mode verify-ca accepts any name of the connection’s own authority, and no other authority', async () => {
  const own = { host: '127.0.0.1', tls: 'verify-ca' };
  expect((await run(own, { ca_certificate: authority })).score).toBeGreaterThan(0);
  for (const ca_certificate of [other, null])
    expect(await run(own, { ca_certificate })).toMatchObject(unreachable(/not from a trusted authority/));
});

test('the mode verify-ca trusts no authority of the system', async () => {
  const stored = await withAuthority(() => run({ tls: 'verify-ca' }, { ca_certificate: other }));
  expect(stored).toMatchObject(unreachable(/not from a trusted authority/));
});

test('the certificates of Amazon are trusted by name, besides the system’s', async () => {
  const { ca = [] } = tlsOptions({ ...anywhere, tls: 'verify-full', caCertificate: 'aws-rds' }) ?? {};
  const pems = [ca].flat().map(String);
  const system = getCACertificates('default');
  expect(pems.slice(0, system.length)).toEqual(system);
  const amazon = pems.slice(system.length).map((pem) => new X509Certificate(pem));
  expect(amazon.length).toBeGreaterThan(100);
  for (const { subject } of amazon) expect(subject).toMatch(/O=(?:Amazon|Starfield)/);
  const stored = await run({}, { ca_certificate: 'aws-rds' });
  expect(stored).toMatchObject(unreachable(/not from a trusted authority|--ca-file/));
});

test('the mode require encrypts without a trusted authority', async () => {
  expect((await run({ host: '127.0.0.1', tls: 'require' })).score).toBeGreaterThan(0);
});

test('the mode disable does not ask for TLS', async () => {
  let first = '';
  const server = await startHostileServer((_message, socket, bytes) => {
    first = bytes.toString();
    socket.end();
    return null;
  });
  await run({ host: '127.0.0.1', port: server.port, tls: 'disable' });
  server.close();
  expect(first).toContain('watcher');
});

test('a password that may be exposed is sent to a server that asks for it', async () => {
  const server = await startHostileServer((sent) => (sent === 0 ? authentication(3) : null));
  const place = { host: '127.0.0.1', port: server.port, tls: 'disable' };
  const running = run(place, { password_exposable: true });
  while (server.heard.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  server.close();
  await running;
  expect(Buffer.concat(server.heard).toString()).toContain(WATCHER_PASSWORD);
});

test('a password that the server hashed with 300,000 iterations logs in', async () => {
  const superuser = await store.superuser('store');
  const hash = (iterations: number) =>
    superuser.query(
      `set scram_iterations = ${iterations}; alter role watcher password '${WATCHER_PASSWORD}'`,
    );
  await hash(300_000);
  const { checks } = await run({ tls: 'require' });
  await hash(4_096);
  expect(checks.find(({ check_id }) => check_id === 'CONN_AUTH_FAILED')?.status).toBe('ok');
});

test('a run reports the server’s version and the TLS version', async () => {
  const target = { engine: 'postgres', connectionType: 'direct', host: 'localhost', port } as const;
  const login = { database: 'postgres', username: 'watcher', password: WATCHER_PASSWORD, tunnel: null };
  const way = { tls: 'verify-full', passwordExposable: false, caCertificate: authority } as const;
  const job = {
    target: { ...target, ...login, ...way },
    instructions: { allowPrivateTargets: true, thresholds: {} },
  };
  const never = new AbortController().signal;
  const { server } = await measureInChild(job, never);
  expect(server).toMatchObject({ version: expect.any(Number), tls: 'TLSv1.3' });
  expect(server?.version).toBeGreaterThan(140_000);
  const untrusted = { ...job, target: { ...job.target, caCertificate: null } };
  expect((await measureInChild(untrusted, never)).server).toBeNull();
});

test('a pulse verifies the certificate as a run does, and sees who blocks whom', async () => {
  const pulse = async (settings: Record<string, unknown>) => {
    const key = await store.watched({
      connection_type: 'direct',
      host: 'localhost',
      port,
      tls: 'verify-full',
    });
    await store.set(key, settings);
    const loaded = await loadPulse(store.deps, key);
    if (!loaded) throw new Error('it was not loaded');
    const held = new HeldSession(loaded.target, true);
    onTestFinished(() => held.end());
    return held;
  };
  expect(await (await pulse({})).pulse()).toMatchObject({
    failure: { kind: 'unreachable', reason: expect.stringMatching(/certificate/) },
  });
  await blockSession(() => store.superuser());
  await findBlocking(await pulse({ ca_certificate: authority }));
});
