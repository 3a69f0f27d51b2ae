import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { LIMITS } from '../../src/monitor/limits.ts';
import { connectFailure } from '../../src/monitor/session/failures/connect-failure.ts';
import type { Target } from '../../src/monitor/session/session.ts';
import { MysqlServer, PASSWORD } from './mysql-server.ts';
import { unusedPort } from './provocations-settings.ts';
import { withinSession } from './within-session.ts';

// MySQL's default login and the certificates that it generates at its first start.

let server: MysqlServer;
let port: number;

beforeAll(async () => {
  port = Number(await unusedPort());
  server = await MysqlServer.start({
    'skip-networking': 'OFF',
    'bind-address': '127.0.0.1',
    port: String(port),
  });
  await server.run(`create user remote@'%' identified by '${PASSWORD}'`);
});
afterAll(() => server?.stop());

// The server then knows no password, and asks for the whole one.
beforeEach(() => server.run('flush privileges'));

const made = (name: string) => readFileSync(join(server.data, name), 'utf8');

async function logIn(given: Partial<Target>): Promise<string> {
  const target: Target = {
    engine: 'mysql',
    connectionType: 'direct',
    host: '127.0.0.1',
    port,
    database: '',
    username: 'remote',
    password: PASSWORD,
    tls: 'disable',
    passwordExposable: false,
    caCertificate: null,
    tunnel: null,
    ...given,
  };
  const encrypted = `select variable_value as cipher from performance_schema.session_status where variable_name = 'Ssl_cipher'`;
  try {
    const [row] = await withinSession(target, (session) => session.read(encrypted));
    return row?.['cipher'] === '' ? 'plain' : 'TLS';
  } catch (error) {
    const { reason, final } = connectFailure(error, LIMITS.connectMs, target);
    expect(final).toBe(true);
    expect(reason).not.toContain(PASSWORD);
    return reason;
  }
}

test('the server’s own certificate names no host: verify-ca accepts it by its authority, verify-full refuses it', async () => {
  const caCertificate = made('ca.pem');
  expect(await logIn({ tls: 'verify-full', caCertificate })).toMatch(/for another host name/);
  expect(await logIn({ tls: 'verify-ca', caCertificate })).toBe('TLS');
});

test.each(['verify-full', 'verify-ca'] as const)('%s refuses another authority', async (tls) => {
  const other = readFileSync(join(import.meta.dirname, '../certificates/authority.pem'), 'utf8');
  expect(await logIn({ tls, caCertificate: other })).toMatch(/not from a trusted authority/);
  expect(await logIn({ tls, caCertificate: null })).toMatch(/not from a trusted authority/);
});

test('over TLS without verification the whole password is sent only if it may be exposed', async () => {
  expect(await logIn({ tls: 'require' })).toMatch(/caching_sha2_password.*unverified$/);
  expect(await logIn({ tls: 'require', passwordExposable: true })).toBe('TLS');
  // The server now remembers the login, and a proof is enough.
  expect(await logIn({ tls: 'require' })).toBe('TLS');
  expect(await logIn({})).toBe('plain');
});

test('without TLS the password is encrypted with the pinned key, and never with one that the server sends', async () => {
  expect(await logIn({})).toMatch(/use TLS, or pin its public key/);
  expect(await logIn({ caCertificate: made('public_key.pem') })).toBe('plain');
  await server.run('flush privileges');
  const [shown] = await server.run(`show status like 'Caching_sha2_password_rsa_public_key'`);
  expect(await logIn({ caCertificate: String(shown?.['Value']) })).toBe('plain');
  await server.run('flush privileges');
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const other = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  expect(await logIn({ caCertificate: other })).toMatch(/refused the login \(1045\)/);
});

test('a wrong password is refused on every way', async () => {
  const password = 'another';
  for (const given of [
    { tls: 'verify-ca', caCertificate: made('ca.pem') },
    { caCertificate: made('public_key.pem') },
    { connectionType: 'unix_socket', host: server.socket },
  ] as const)
    expect(await logIn({ ...given, password })).toMatch(/refused the login \(1045\)/);
});

test('a socket takes the whole password', async () => {
  expect(await logIn({ connectionType: 'unix_socket', host: server.socket })).toBe('plain');
});
