import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../src/monitor/limits.ts';
import { connectFailure } from '../../src/monitor/session/failures/connect-failure.ts';
import type { Session, Target } from '../../src/monitor/session/session.ts';
import { freePort } from '../contract/free-port.ts';
import { type Bastion, startBastion } from './bastion.ts';
import { MysqlServer, PASSWORD } from './mysql-server.ts';
import { ENGINE, pluginFolder } from './tested-server.ts';
import { withinSession } from './within-session.ts';

// MariaDB's login by a signature, whose client sends the whole password to sign with.

const certificate = (name: string) => join(import.meta.dirname, '../certificates', name);

let server: MysqlServer;
let bastion: Bastion;
let port: number;

beforeAll(async () => {
  port = await freePort();
  server = await MysqlServer.start({
    'skip-networking': 'OFF',
    'bind-address': '127.0.0.1',
    port: String(port),
    'ssl-cert': certificate('server.pem'),
    'ssl-key': certificate('server.key'),
    'plugin-dir': pluginFolder(),
  });
  bastion = await startBastion(port);
  await server.run([
    "install soname 'auth_ed25519'",
    `create user signing@'%' identified via ed25519 using password('${PASSWORD}')`,
  ]);
});
afterAll(async () => {
  bastion?.close();
  await server?.stop();
});

function within<T>(given: Partial<Target>, use: (session: Session) => Promise<T>): Promise<T> {
  return withinSession(
    {
      engine: 'mariadb',
      connectionType: 'direct',
      host: 'localhost',
      port,
      database: '',
      username: 'signing',
      password: PASSWORD,
      tls: 'disable',
      passwordExposable: false,
      caCertificate: null,
      tunnel: null,
      ...given,
    },
    use,
  );
}

const withTls = (): Partial<Target> => ({
  tls: 'verify-full',
  caCertificate: readFileSync(certificate('authority.pem'), 'utf8'),
});

test.each([
  ['a socket', () => ({ connectionType: 'unix_socket', host: server.socket }) as const, 0],
  ['TLS', withTls, 1],
  ['a tunnel', () => bastion.tunnel, 0],
] as const)('logs in by %s', async (_what, given, tls) => {
  const who = `
    select substring_index(user(), '@', 1) as name,
           (select variable_value from information_schema.session_status where variable_name = 'Ssl_cipher') <> '' as tls`;
  expect(await within(given(), (session) => session.read(who))).toEqual([{ name: 'signing', tls }]);
});

test.each<[string, () => Partial<Target>, RegExp]>([
  ['a login in the clear', () => ({}), /client_ed25519.*TLS/],
  ['a wrong password', () => ({ ...withTls(), password: 'x' }), /1045/],
])('%s is refused', async (_what, given, expected) => {
  const error = await within(given(), async () => null).catch((thrown: unknown) => thrown);
  const failure = connectFailure(error, LIMITS.connectMs, {
    engine: ENGINE,
    connectionType: 'direct',
    tls: 'disable',
    username: 'signing',
    database: '',
    ...given(),
  });
  expect(failure).toMatchObject({
    kind: 'unauthorized',
    final: true,
    reason: expect.stringMatching(expected),
  });
  expect(JSON.stringify(failure)).not.toContain(PASSWORD);
});
