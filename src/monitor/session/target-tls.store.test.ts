import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { authentication, startHostileServer } from '../../../test/hostile-server.ts';
import { startTestStore, type TestStore, WATCHER_PASSWORD } from '../../../test/store.ts';
import { measureInChild } from '../measure-in-child.ts';
import { runHealthCheck, type StoredCheck } from '../run.ts';

const file = (name: string) => join(import.meta.dirname, '../../../test/certificates', name);
const authority = readFileSync(file('authority.pem'), 'utf8');

let store: TestStore;
let port: number;
beforeAll(async () => {
  store = await startTestStore();
  port = await frontOf(store.address[0]?.host ?? '');
});
afterAll(() => store.stop());

/** Terminates TLS in front of a PostgreSQL's socket, as a pooler does, with a certificate for `localhost`. */
async function frontOf(folder: string): Promise<number> {
  const identity = { cert: readFileSync(file('server.pem')), key: readFileSync(file('server.key')) };
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write('S');
      const secure = new TLSSocket(socket, { isServer: true, ...identity });
      const behind = connect(join(folder, '.s.PGSQL.5432'));
      for (const side of [socket, secure, behind]) side.on('error', () => {});
      secure.pipe(behind).pipe(secure);
    });
  }).listen(0, '127.0.0.1');
  server.unref();
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

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

const unreachable = (reason: RegExp) => ({
  score: 0,
  checks: [{ check_id: 'CONN_UNREACHABLE', metric_line: expect.stringMatching(reason) }],
});

test('an authority of NODE_EXTRA_CA_CERTS is trusted', async () => {
  const before = process.env['NODE_EXTRA_CA_CERTS'];
  process.env['NODE_EXTRA_CA_CERTS'] = file('authority.pem');
  const stored = await run({});
  if (before === undefined) delete process.env['NODE_EXTRA_CA_CERTS'];
  else process.env['NODE_EXTRA_CA_CERTS'] = before;
  expect(stored.score).toBeGreaterThan(0);
});

test('a certificate of an unknown authority is rejected with advice', async () => {
  expect(await run({})).toMatchObject(unreachable(/--ca-file.*NODE_EXTRA_CA_CERTS/));
});

test('a certificate of the connection’s own authority is trusted', async () => {
  expect((await run({}, { ca_certificate: authority })).score).toBeGreaterThan(0);
});

test('a certificate for another name or address is rejected', async () => {
  const stored = await run({ host: '127.0.0.1' }, { ca_certificate: authority });
  expect(stored).toMatchObject(unreachable(/ERR_TLS_CERT_ALTNAME_INVALID/));
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
  expect(server).toEqual({ version: expect.any(Number), tls: 'TLSv1.3' });
  expect(server?.version).toBeGreaterThan(140_000);
  const untrusted = { ...job, target: { ...job.target, caCertificate: null } };
  expect((await measureInChild(untrusted, never)).server).toBeNull();
});
