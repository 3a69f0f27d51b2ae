import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIMITS } from '../../src/monitor/limits.ts';
import { measure } from '../../src/monitor/measure.ts';
import type { Measured } from '../../src/monitor/nothing-measured.ts';
import type { Target } from '../../src/monitor/session/session.ts';
import { MysqlServer, PASSWORD } from './mysql-server.ts';
import { unusedPort } from './provocations-settings.ts';
import { dialect, ENGINE, HIDES_REQUIRED_TLS, ON_MYSQL } from './tested-server.ts';

// Each failure is provoked on a real server, and what the diagnosis says to do is done: the login then succeeds.

const certificates = join(import.meta.dirname, '..', 'certificates');
const authority = readFileSync(join(certificates, 'authority.pem'), 'utf8');
const identity = (name: string) => ({
  'ssl-cert': join(certificates, `${name}.pem`),
  'ssl-key': join(certificates, 'server.key'),
});

/** The logins of this file, each for any host. */
const everybody = ['here', 'wide', 'safely'];

/** An address of this machine other than loopback. */
function networkAddress(): string {
  const found = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal);
  if (!found)
    throw new Error('This machine has no network address but loopback: give it one to test error 1130.');
  return found.address;
}

let server: MysqlServer;
let port: number;
beforeAll(async () => {
  port = Number(await unusedPort());
  server = await MysqlServer.start({
    'skip-networking': 'OFF',
    'bind-address': '0.0.0.0',
    'skip-name-resolve': 'ON', // else a login for the machine's own name, which MariaDB makes, is one for its address
    port: String(port),
    ...identity('server'),
  });
  await server.run([
    `create user here@'%' identified by '${PASSWORD}'`,
    `create user wide@'%' identified by '${PASSWORD}'`,
    "grant references on *.* to wide@'%'",
    `create user safely@'%' identified by '${PASSWORD}' require ssl`,
  ]);
});
afterAll(() => server?.stop());

function attempt(given: Partial<Target>): Promise<Measured> {
  const target: Target = {
    engine: ENGINE,
    connectionType: 'direct',
    host: 'localhost',
    port,
    database: 'mysql',
    username: 'here',
    password: PASSWORD,
    tls: 'verify-full',
    caCertificate: authority,
    passwordExposable: false,
    tunnel: null,
    ...given,
  };
  const limits = { ...LIMITS, connectMs: 3_000, reachMs: 1_500 };
  const signal = new AbortController().signal;
  return measure(target, { allowPrivateTargets: true, thresholds: {}, limits, signal });
}

/** What a failed attempt says; the finding says the same, and nothing contains the password. */
async function diagnosis(given: Partial<Target>) {
  const { failure, outcomes } = await attempt(given);
  if (!failure) throw new Error('The attempt did not fail.');
  const { reason, advice, paste, tls } = failure;
  const remediation = paste === null ? advice : `${advice} ${paste}`;
  const found = outcomes.flatMap(({ findings }) => findings).find(({ status }) => status === 'critical');
  expect(found).toMatchObject({ remediation, metric_line: expect.stringContaining(reason) });
  expect(JSON.stringify(outcomes)).not.toContain(PASSWORD);
  return { reason, advice, tls };
}

const connects = async (given: Partial<Target> = {}) =>
  expect((await attempt({ database: '', ...given })).failure).toBeNull();

test.each<[string, Partial<Target>, RegExp, RegExp]>([
  ['a wrong password', { password: 'x' }, /refused the login \(1045\)/, /^Check the login and its password/],
  ['no password', { password: null }, /refused the login/, /^Enter the password of the login/],
  [
    'a database that is not there',
    { username: 'wide', database: 'nowhere' },
    /database does not exist \(1049\)/,
    /^Correct the database of the connection/,
  ],
  [
    'no access to the database',
    { database: 'mysql' },
    /no access to the database \(1044\)/,
    /^Grant the login/,
  ],
  [
    'a closed port',
    { port: 1 },
    /refused \(ECONNREFUSED\)/,
    /^Start the server, or correct the host and port/,
  ],
  [
    'a host that does not exist',
    { host: 'no-such-host.invalid' },
    /^the (?:host name does not exist|DNS lookup failed)/,
    /^(?:Correct the host name|Check the DNS servers)/,
  ],
  [
    'an unknown authority',
    { caCertificate: null },
    /not from a trusted authority/,
    /^Add the authority of the certificate/,
  ],
  [
    'a certificate for another name',
    { host: '127.0.0.1' },
    /for another host name/,
    /^Use a host name that the certificate contains/,
  ],
])('%s is diagnosed', async (_what, given, reason, advice) => {
  expect(await diagnosis(given)).toMatchObject({
    reason: expect.stringMatching(reason),
    advice: expect.stringMatching(advice),
    tls: null,
  });
});

test('a login that requires TLS says which mode to choose', async () => {
  const safely = { username: 'safely', tls: 'disable', database: '' } as const;
  const { advice } = await diagnosis(safely);
  expect(advice).toMatch(
    dialect({ mysql: /requires TLS, choose|^Use TLS/, mariadb: /requires TLS, choose the TLS mode require/ }),
  );
  await connects({ ...safely, tls: 'verify-full' });
});

test('a server that requires TLS says so, and the proposed mode logs in', async () => {
  await server.run('set global require_secure_transport = on');
  const failed = await diagnosis({ tls: 'disable', database: '' });
  await connects({ tls: ON_MYSQL ? 'verify-full' : 'require' });
  await server.run('set global require_secure_transport = off');
  expect(failed).toEqual(
    HIDES_REQUIRED_TLS
      ? {
          reason: 'the server refused the login (1045)',
          advice: expect.stringMatching(
            /If the login or the server requires TLS, choose the TLS mode require/,
          ),
          tls: null,
        }
      : {
          reason: 'the server requires TLS (3159)',
          advice: 'Choose the TLS mode require (--tls): the server refuses logins without TLS.',
          tls: 'require',
        },
  );
});

test('a host that the server accepts no login from is named, and a login for it helps', async () => {
  await server.run(everybody.map((name) => `rename user ${name}@'%' to ${name}@localhost`));
  await server.run('flush privileges'); // until then it takes every host for allowed
  const from = networkAddress();
  const byNetwork = { host: from, tls: 'verify-ca', database: '' } as const;
  const { reason, advice } = await diagnosis(byNetwork);
  expect(reason).toBe('the server accepts no login from this host (1130)');
  const [, address = ''] = /^Create the login on the server for (\S+), or for %/.exec(advice) ?? [];
  await server.run(`create user here@'${address}' identified by '${PASSWORD}'`);
  await connects(byNetwork);
  await server.run(`drop user here@'${address}'`);
  await server.run(everybody.map((name) => `rename user ${name}@localhost to ${name}@'%'`));
});

test('a locked login, and an expired password', async () => {
  await server.run("alter user here@'%' account lock");
  const locked = await diagnosis({ database: '' });
  await server.run("alter user here@'%' account unlock");
  expect([locked.reason, locked.advice]).toEqual([
    expect.stringMatching(/^the login is locked/),
    expect.stringMatching(/ACCOUNT UNLOCK/),
  ]);
  await connects();
  await server.run("alter user here@'%' password expire");
  const expired = await diagnosis({ database: '' });
  await server.run(`alter user here@'%' identified by '${PASSWORD}'`);
  expect([expired.reason, expired.advice]).toEqual([
    expect.stringMatching(/^the password has expired/),
    expect.stringMatching(/^Give the login a new password/),
  ]);
  await connects();
});

test('the limit of connections of the login', async () => {
  await server.run("alter user here@'%' with max_connections_per_hour 1");
  await attempt({ database: '' });
  expect(await diagnosis({ database: '' })).toMatchObject({
    reason: 'the login has used up its connections of an hour (1226)',
    advice: expect.stringMatching(/MAX_CONNECTIONS_PER_HOUR/),
  });
  await server.run("alter user here@'%' with max_connections_per_hour 0");
});

test.runIf(ON_MYSQL)(
  'caching_sha2_password without verified TLS names the ways to send the password',
  async () => {
    await server.run('flush privileges'); // the server then asks for the whole password
    expect((await diagnosis({ database: '', tls: 'disable' })).advice).toMatch(
      /^Use TLS \(--tls verify-full\), or pin the public key/,
    );
    expect((await diagnosis({ database: '', tls: 'require' })).advice).toMatch(/^Verify the certificate/);
    await connects();
  },
);

test('an expired certificate, and a silent server', async () => {
  await server.restart(identity('expired'));
  const caCertificate = readFileSync(join(certificates, 'receivers-authority.pem'), 'utf8');
  expect(await diagnosis({ caCertificate })).toMatchObject({
    reason: 'its TLS certificate has expired (CERT_HAS_EXPIRED)',
    advice: expect.stringMatching(/^Renew the certificate of the server/),
  });
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  expect(await diagnosis({ port: (silent.address() as AddressInfo).port, host: '127.0.0.1' })).toMatchObject({
    reason: expect.stringMatching(/^it did not answer within/),
    advice: expect.stringMatching(/^Check that a firewall or security group/),
  });
  silent.close();
});

test.runIf(!ON_MYSQL)('a server without TLS is named', async () => {
  await server.restart({ 'skip-ssl': 'ON' });
  expect(await diagnosis({})).toMatchObject({
    reason: 'it does not support TLS',
    advice: expect.stringMatching(/^Turn on TLS on the server/),
    tls: null,
  });
});
