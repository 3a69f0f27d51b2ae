import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PASSWORD, PostgresServer } from '../checks/postgres-server.ts';
import { command } from './command.ts';

// A store on a PostgreSQL that takes connections with TLS only, with a certificate of a private authority for localhost.
const CERTIFICATES = join(import.meta.dirname, '..', 'certificates');
const AUTHORITY = join(CERTIFICATES, 'authority.pem');
const OTHER = join(CERTIFICATES, 'receivers-authority.pem');

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
  await server.pause();
  await server.resume({ listen_addresses: '127.0.0.1', ssl: 'on' });
  const lines = ['local all postgres scram-sha-256', 'hostssl all all 127.0.0.1/32 scram-sha-256'];
  writeFileSync(join(server.host, 'pg_hba.conf'), `${lines.join('\n')}\n`);
  await server.run('select pg_reload_conf()');
  await server.until(`select count(*) = 2 and count(error) = 0 from pg_hba_file_rules`);
});
afterAll(() => server?.stop());

function run(args: string[], query: string, host = 'localhost') {
  const url = `postgres://postgres:${encodeURIComponent(PASSWORD)}@${host}:${server.port}/shop${query}`;
  const environment = { DATABASE_URL: url, DBVITALS_SECRET_KEY: '5e'.repeat(32) };
  return command(args, { environment, ownProcess: true });
}

test('a store with TLS is made and used by what its URL asks for', async () => {
  const migrated = await run(['migrate'], `?sslmode=verify-full&sslrootcert=${AUTHORITY}`);
  expect(migrated).toMatchObject({ exit: 0, stderr: '' });
  const uses = [
    run(['account', 'list'], `?sslmode=verify-ca&sslrootcert=${AUTHORITY}`, '127.0.0.1'),
    run(['account', 'list'], '?sslmode=require'),
  ];
  for (const outcome of await Promise.all(uses)) expect(outcome).toMatchObject({ exit: 0, stderr: '' });
});

test.each<[what: string, query: string, host: string, sentence: RegExp]>([
  [
    'a certificate of an authority that this machine does not trust',
    '?sslmode=verify-full',
    'localhost',
    /is not from an authority that this machine trusts \(\w+\): add sslrootcert=/,
  ],
  [
    'a certificate of another authority',
    `?sslmode=verify-full&sslrootcert=${OTHER}`,
    'localhost',
    /is not from an authority that this machine trusts/,
  ],
  [
    'a certificate for another host name',
    `?sslmode=verify-full&sslrootcert=${AUTHORITY}`,
    '127.0.0.1',
    /is for another host name \(\w+\): use that name in DATABASE_URL, or sslmode=verify-ca/,
  ],
  [
    'no TLS',
    '?sslmode=disable',
    'localhost',
    /^error: The store rejected the login \(28000\), because .* without TLS: set sslmode=verify-full/,
  ],
])('%s: one sentence that says what to do, and no secret', async (...given) => {
  const [, query, host, sentence] = given;
  const { exit, stdout, stderr } = await run(['account', 'list'], query, host);
  expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
  expect(stderr).toMatch(/^error: [^\n]+\n$/);
  expect(stderr).toMatch(sentence);
  expect(stderr).not.toContain(PASSWORD);
});
