import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { LIMITS } from '../../src/monitor/limits.ts';
import { measure } from '../../src/monitor/measure.ts';
import type { Measured } from '../../src/monitor/nothing-measured.ts';
import type { Target } from '../../src/monitor/session/session.ts';
import { PASSWORD, PostgresServer } from './postgres-server.ts';

// Each failure is provoked on a real server. What a diagnosis says to paste is pasted, and the login then succeeds.

const certificate = (name: string) =>
  readFileSync(join(import.meta.dirname, '..', 'certificates', name), 'utf8');
const authority = certificate('authority.pem');
const ON_NETWORK = { listen_addresses: '127.0.0.1', ssl: 'on' };
const WITH_TLS = 'hostssl all all 127.0.0.1/32 scram-sha-256';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
  await server.pause();
  await server.resume(ON_NETWORK);
});
afterAll(() => server?.stop());
beforeEach(() => rules(WITH_TLS));

/** Replaces pg_hba.conf, except for the superuser of the tests. */
async function rules(...lines: string[]): Promise<void> {
  const kept = 'local all postgres scram-sha-256';
  writeFileSync(join(server.host, 'pg_hba.conf'), `${[kept, ...lines].join('\n')}\n`);
  await server.run('select pg_reload_conf()');
  await server.until(`select count(*) = ${lines.length + 1} and count(error) = 0 from pg_hba_file_rules`);
}

function attempt(given: Partial<Target> = {}): Promise<Measured> {
  const target: Target = {
    engine: 'postgres',
    connectionType: 'direct',
    host: 'localhost',
    port: server.port,
    database: 'shop',
    username: 'watcher',
    password: PASSWORD,
    tls: 'require',
    passwordExposable: false,
    caCertificate: null,
    tunnel: null,
    ...given,
  };
  const limits = { ...LIMITS, connectMs: 1_000, reachMs: 300 };
  const signal = new AbortController().signal;
  return measure(target, { allowPrivateTargets: true, thresholds: {}, limits, signal });
}

/** What a failed attempt says. The finding's remediation, which API and command line show, is the same text. */
async function diagnosis(given: Partial<Target> = {}) {
  const { failure, outcomes } = await attempt(given);
  if (!failure) throw new Error('The attempt did not fail.');
  const { reason, advice, paste, tls } = failure;
  const remediation = paste === null ? advice : `${advice} ${paste}`;
  const found = outcomes.flatMap(({ findings }) => findings).find(({ status }) => status === 'critical');
  expect(found).toMatchObject({ remediation, metric_line: expect.stringContaining(reason) });
  expect(JSON.stringify(outcomes)).not.toContain(given.password ?? PASSWORD);
  return { reason, advice, paste, tls };
}

const connects = async (given: Partial<Target> = {}) => expect((await attempt(given)).failure).toBeNull();

test('without a rule in pg_hba.conf, the line to add is printed, and lets the login in', async () => {
  await rules();
  const { reason, advice, paste } = await diagnosis();
  expect(reason).toMatch(/^pg_hba\.conf has no rule for this login/);
  expect(advice).toMatch(/^Add this line to pg_hba\.conf/);
  expect(paste).toBe('hostssl all "watcher" 127.0.0.1/32 scram-sha-256');
  await rules(paste ?? '');
  await connects();
});

test('a login with a hostile name gets a line that lets in that login alone', async () => {
  const username = 'a" all 0.0.0.0/0 trust #';
  await server.run(`create role "${username.replaceAll('"', '""')}" login password '${PASSWORD}'`);
  await rules();
  const { paste } = await diagnosis({ username });
  await rules(paste ?? '');
  await connects({ username });
  expect((await diagnosis()).reason).toMatch(/no rule/);
});

test('a rule that rejects is overruled by the line above it', async () => {
  const rejecting = 'host all watcher 127.0.0.1/32 reject';
  await rules(rejecting, WITH_TLS);
  const { reason, paste } = await diagnosis();
  expect(reason).toMatch(/^a rule of pg_hba\.conf rejects this login/);
  await rules(paste ?? '', rejecting, WITH_TLS);
  await connects();
});

test('a server that wants TLS says so, and the proposed mode logs in', async () => {
  const { reason, advice, tls } = await diagnosis({ tls: 'disable' });
  expect(reason).toMatch(/no rule for this login from this machine without TLS/);
  expect(advice).toMatch(/^Choose the TLS mode require \(--tls\)/);
  expect(tls).toBe('require');
  await connects({ tls: 'require' });
});

test('a wrong password, and a login that does not exist, name the login and its password', async () => {
  for (const given of [{ password: 'a wrong password' }, { username: 'nobody' }])
    expect(await diagnosis(given)).toMatchObject({
      reason: 'the server refused the login (SQLSTATE 28P01)',
      advice: expect.stringMatching(/^Check the login and its password/),
    });
});

test('a role that does not exist is named where the server tells', async () => {
  await rules('hostssl all all 127.0.0.1/32 trust');
  expect(await diagnosis({ username: 'nobody' })).toMatchObject({
    reason: expect.stringMatching(/^the role does not exist/),
    advice: expect.stringMatching(/^Create the login on the server/),
  });
});

test('a role that may not log in gets the statement that lets it', async () => {
  await server.run('alter role watcher nologin');
  const { reason, paste } = await diagnosis();
  expect([reason, paste]).toEqual([
    'the role may not log in (SQLSTATE 28000)',
    'ALTER ROLE "watcher" LOGIN;',
  ]);
  await server.run(paste ?? '');
  await connects();
});

test('a role that may not connect gets the GRANT', async () => {
  await server.run('revoke connect on database shop from public');
  const { reason, paste } = await diagnosis();
  expect([reason, paste]).toEqual([
    'the role may not connect to the database (SQLSTATE 42501)',
    'GRANT CONNECT ON DATABASE "shop" TO "watcher";',
  ]);
  await server.run(paste ?? '');
  await connects();
  await server.run('grant connect on database shop to public');
});

test('a database that does not exist is named as the cause', async () => {
  expect(await diagnosis({ database: 'shopp' })).toMatchObject({
    reason: 'the database does not exist',
    advice: expect.stringMatching(/^Correct the database of the connection/),
  });
});

test('too many connections of the role, and of the server', async () => {
  await server.run('alter role watcher connection limit 0');
  expect((await diagnosis()).advice).toMatch(/CONNECTION LIMIT in ALTER ROLE/);
  await server.run('alter role watcher connection limit -1');
  await rules(WITH_TLS, 'local all app scram-sha-256');
  const sessions = [];
  for (let n = 0; n < 17; n++) sessions.push(await server.open('app'));
  expect(await diagnosis()).toMatchObject({
    reason: 'all its connections are in use (53300)',
    advice: expect.stringMatching(/raise max_connections/),
  });
  await Promise.all(sessions.map((session) => session.end()));
});

test('a certificate of an unknown authority, and one for another name', async () => {
  expect(await diagnosis({ tls: 'verify-full' })).toMatchObject({
    reason: expect.stringMatching(/not from a trusted authority/),
    advice: expect.stringMatching(/^Add the authority of the certificate/),
    tls: null,
  });
  const other = { tls: 'verify-full', host: '127.0.0.1', caCertificate: authority } as const;
  expect(await diagnosis(other)).toMatchObject({
    reason: expect.stringMatching(/certificate is for another host name/),
    advice: expect.stringMatching(/^Use a host name that the certificate contains/),
  });
  await connects({ ...other, host: 'localhost' });
});

test('a password is not sent in clear text, nor as MD5', async () => {
  await rules('hostssl all all 127.0.0.1/32 password');
  expect(await diagnosis()).toMatchObject({
    reason: expect.stringMatching(/asks for the password in clear text or as MD5/),
    advice: expect.stringMatching(/use scram-sha-256 in pg_hba\.conf\. Or allow the connection/),
  });
});

test('an expired certificate, and a server without TLS', async () => {
  await server.pause();
  await server.resume({ ...ON_NETWORK, ssl_cert_file: 'expired.pem' });
  const caCertificate = certificate('receivers-authority.pem');
  expect(await diagnosis({ tls: 'verify-full', caCertificate })).toMatchObject({
    reason: 'its TLS certificate has expired (CERT_HAS_EXPIRED)',
    advice: expect.stringMatching(/^Renew the certificate of the server/),
  });
  await server.pause();
  await server.resume({ ...ON_NETWORK, ssl: 'off' });
  await rules('host all all 127.0.0.1/32 scram-sha-256');
  expect(await diagnosis()).toMatchObject({
    reason: 'it does not support TLS',
    advice: expect.stringMatching(/^Turn on TLS on the server/),
    tls: null,
  });
  await server.pause();
  await server.resume(ON_NETWORK);
});

test('a closed port, a silent one, an unknown host and a missing socket', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  expect(await diagnosis({ port, host: '127.0.0.1' })).toMatchObject({
    reason: expect.stringMatching(/^it did not answer the login within/),
    advice: expect.stringMatching(/^Check that the port is that of the database/),
  });
  silent.close();
  expect(await diagnosis({ port: 1 })).toMatchObject({
    reason: 'connection refused (ECONNREFUSED)',
    advice: expect.stringMatching(/^Start the server, or correct the host and port/),
  });
  expect(await diagnosis({ host: 'no-such-host.invalid' })).toMatchObject({
    reason: expect.stringMatching(/^the (?:host name does not exist|DNS lookup failed)/),
    advice: expect.stringMatching(/^(?:Correct the host name|Check the DNS servers)/),
  });
  const missing = { connectionType: 'unix_socket', host: '/nowhere', tls: 'disable' } as const;
  expect(await diagnosis(missing)).toMatchObject({
    reason: 'the socket does not exist (ENOENT)',
    advice: expect.stringMatching(/^Start the server, or correct the path/),
  });
});
