import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Account, makeAccount } from './account.ts';
import { readLog } from './activity-log.ts';
import { command, commandJson } from './command.ts';
import { startProcess, temporaryFolder } from './running-service.ts';

// A collector as an operator runs it: the program measures the suite's own store, whose login the service never gets.

const PASSWORD = 'unspoken-collected';
const folder = temporaryFolder();
const store = new pg.Client({ connectionString: inject('sharedStore')['DATABASE_URL'] });
let account: Account;

beforeAll(async () => {
  account = await makeAccount();
  await store.connect();
  await store.query('drop role if exists collected_watcher');
  await store.query(`create role collected_watcher login password '${PASSWORD}'`);
});

afterAll(async () => {
  await store.query('drop role if exists collected_watcher');
  await store.end();
  folder.remove();
});

/** A URL of the suite's store, as the collector's own login. */
function collectedUrl(): string {
  const url = new URL(inject('sharedStore')['DATABASE_URL'] ?? '');
  Object.assign(url, { username: 'collected_watcher', password: PASSWORD });
  return url.href;
}

interface Listed {
  id: number;
  name: string;
  state: string;
  fingerprint: string | null;
  connections: number;
}

const list = () => commandJson<Listed[]>(['collector', 'list', '--account', `${account.id}`]);

function writeFile(name: string, text: string, mode = 0o600): string {
  const path = join(folder.path, name);
  writeFileSync(path, text, { mode });
  return path;
}

/** A file with each way to give a login, and with one that is wrong. */
function writeLogins(): string {
  const bare = new URL(collectedUrl());
  bare.password = '';
  const closed = new URL(collectedUrl());
  closed.password = 'another';
  const url = bare.href;
  const connections = {
    shop: { url: collectedUrl() },
    'by-file': { url, password_file: writeFile('shop-password', `${PASSWORD}\n`) },
    'by-token': { url, token_command: ['/bin/sh', '-c', `printf %s ${PASSWORD}`] },
    closed: { url: closed.href },
  };
  return writeFile('logins.yaml', JSON.stringify({ connections }));
}

const collectArguments = (file: string, token: string, name = 'frankfurt') => [
  ...['collect', '--url', inject('origin'), '--name', name, '--file', file],
  ...['--folder', join(folder.path, `key-${name}`), '--token-file', token],
];

test('a collector is enrolled by its token, runs the checks of its connections, and is revoked at once', async () => {
  const made = ['collector', 'enrol', '--account', `${account.id}`, '--name', 'frankfurt'];
  const { token, id: collectorId } = await commandJson<{ token: string; id: number }>(made);
  expect(await list()).toMatchObject([{ name: 'frankfurt', state: 'waiting', fingerprint: null }]);
  const add = [
    'connection',
    'add',
    '--account',
    `${account.id}`,
    '--collector',
    'frankfurt',
    '--every',
    '10s',
  ];
  const shop = await commandJson<{ id: number; host: string }>([
    ...add,
    '--name',
    'shop',
    '--engine',
    'postgres',
  ]);
  expect(shop.host).toBe('collector/frankfurt');

  const file = writeFile(
    'collector.yaml',
    JSON.stringify({ connections: { shop: { url: collectedUrl() } } }),
  );
  const collector = startProcess(collectArguments(file, writeFile('token', `${token}\n`)), {});
  try {
    const [, fingerprint] = await collector.says(/"fingerprint":"(SHA256:[^"]+)"/);
    await collector.says(/health check delivered/);
    expect(await list()).toMatchObject([{ state: 'connected', fingerprint, connections: 1 }]);
    const key = join(folder.path, 'key-frankfurt', 'collector-key.json');
    expect(statSync(key).mode & 0o777).toBe(0o600);

    // As a person asks for one, and by the API as any other.
    const check = await commandJson<{ score: number; checks: { check_id: string; status: string }[] }>([
      ...['check', 'run', '--connection', `${shop.id}`],
    ]);
    expect(check.checks).toContainEqual(
      expect.objectContaining({ check_id: 'CONN_AUTH_FAILED', status: 'ok' }),
    );
    expect(check.checks.length).toBeGreaterThan(40);
    const log = (await readLog(account.key)).map(({ action_type }) => action_type);
    expect(log).toEqual(
      expect.arrayContaining(['collector_token_created', 'collector_enrolled', 'health_check_completed']),
    );

    const logins = writeLogins();
    const places = ['--folder', join(folder.path, 'key-frankfurt'), '--file', logins, '--json'];
    const diagnose = async () => {
      const { exit, stdout } = await command(['doctor', '--collector', ...places]);
      const { diagnoses } = JSON.parse(stdout) as { diagnoses: { status: string; message: string }[] };
      expect(stdout).not.toContain(PASSWORD);
      return { exit, told: diagnoses.map(({ status, message }) => `${status} ${message}`) };
    };
    const { exit, told } = await diagnose();
    expect(exit).toBe(1);
    expect(told).toEqual([
      expect.stringMatching(/^ok Version /),
      expect.stringMatching(/^ok The service at .* accepts the key of collector frankfurt\.$/),
      'ok Connection shop: the login is accepted.',
      'ok Connection by-file: the login is accepted.',
      expect.stringMatching(/^error Connection by-token: .* a token is sent over verified TLS only/),
      expect.stringMatching(/^error Connection closed: .* the server refused the login/),
    ]);

    await commandJson(['collector', 'revoke', `${collectorId}`]);
    expect((await diagnose()).told).toContainEqual(
      expect.stringMatching(/^error The service at .* refuses collector frankfurt: No living collector/),
    );
    await collector.says(/refuses this collector/);
    expect(await list()).toMatchObject([{ state: 'revoked' }]);
    const refused = await command(['check', 'run', '--connection', `${shop.id}`]);
    expect([refused.exit, refused.stderr]).toEqual([1, expect.stringContaining('is not connected')]);
  } finally {
    expect(await collector.stop()).toBe(0);
  }
  expect(collector.output()).not.toContain(PASSWORD);
});

test('the store has no login, no address and no token of what a collector measures', async () => {
  const { rows } = await store.query(
    `select c.credential, c.ssh_credential, c.username, c.database, c.host
       from connection c join collected_connection m using (account_id, connection_id) where account_id = $1`,
    [account.id],
  );
  expect(rows).toEqual([
    { credential: null, ssh_credential: null, username: '', database: '', host: 'collector/frankfurt' },
  ]);
  const { rows: tables } = await store.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
      where relkind in ('r', 'm') and relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`,
  );
  const token = readFileSync(join(folder.path, 'token'), 'utf8').trim();
  const { private_key } = JSON.parse(
    readFileSync(join(folder.path, 'key-frankfurt', 'collector-key.json'), 'utf8'),
  );
  const [, ownKey = ''] = String(private_key).split('\n');
  const find = async (secrets: string[]) => {
    const found: string[] = [];
    for (const { name } of tables) {
      const like = secrets.flatMap(encodings).map((secret) => `%${secret}%`);
      const { rowCount } = await store.query(`select from ${name} t where to_jsonb(t)::text like any ($1)`, [
        like,
      ]);
      if (rowCount !== 0) found.push(name);
    }
    return found;
  };
  expect(await find([PASSWORD, token.slice(-43), ownKey])).toEqual([]);
  // What the store does have is found.
  expect(await find(['collector/frankfurt'])).toContain('connection');
});

/** How a secret might be stored: as it is, in base64, or as bytes, which JSON has in hexadecimal. */
function encodings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [secret, bytes.toString('base64').replace(/=*$/, '').slice(0, -1), bytes.toString('hex')];
}

test('a connection of a collector is not contacted by the service, and takes no address and no login', async () => {
  const made = ['collector', 'enrol', '--account', `${account.id}`, '--name', 'paris'];
  await commandJson(made);
  const add = ['connection', 'add', '--account', `${account.id}`, '--name', 'orders', '--collector', 'paris'];
  const { id } = await commandJson<{ id: number }>([...add, '--engine', 'mysql']);
  const twice = await command([...add, '--engine', 'mysql']);
  expect([twice.exit, twice.stderr]).toEqual([1, expect.stringContaining('already')]);
  const change = ['connection', 'change', `${id}`];
  for (const way of [
    ['--url', 'mysql://root@127.0.0.1:3306'],
    ['--tls', 'disable'],
    ['--expose-password', 'yes'],
  ]) {
    const refused = await command([...change, ...way]);
    expect([refused.exit, refused.stderr]).toEqual([1, expect.stringContaining("the collector's own file")]);
  }
  await commandJson([...change, '--every', '1m']);
  const top = await command(['top', '--connection', `${id}`, '--once']);
  expect([top.exit, top.stderr]).toEqual([1, expect.stringContaining('paris')]);
  for (const local of [
    ['--url', 'mysql://a@b'],
    ['--token-source', 'x'],
    ['--tls', 'require'],
  ]) {
    const refused = await command([...add, '--engine', 'mysql', ...local]);
    expect(refused.exit).toBe(2);
  }
  const unknown = await command([...add.slice(0, -1), 'nowhere', '--engine', 'mysql']);
  expect([unknown.exit, unknown.stderr]).toEqual([2, expect.stringContaining('no collector of this name')]);
});

test('a file that others can read, or that is not of the form, stops the collector before its token is used', async () => {
  const { token } = await commandJson<{ token: string }>([
    ...['collector', 'enrol', '--account', `${account.id}`, '--name', 'rome'],
  ]);
  const tokenFile = writeFile('rome-token', token);
  const good = { url: 'postgres://a:secret-word@db/x' };
  const cases: [string, object, number, RegExp][] = [
    ['open', { connections: { a: good } }, 0o644, /chmod 600/],
    ['unknown', { connections: { a: { ...good, host: 'x' } } }, 0o600, /Unknown field/],
    ['two passwords', { connections: { a: { ...good, password: 'b' } } }, 0o600, /Give one of/],
    ['no url', { connections: { a: {} } }, 0o600, /Give url/],
    ['ssh', { connections: { a: { ...good, ssh: 'a@b' } } }, 0o600, /ssh_host_key/],
  ];
  for (const [name, content, mode, words] of cases) {
    const file = writeFile(`${name}.yaml`, JSON.stringify(content), mode);
    const { exit, stderr } = await command(collectArguments(file, tokenFile, 'rome'));
    expect([name, exit, stderr]).toEqual([name, 2, expect.stringMatching(words)]);
    expect(stderr).not.toContain('secret-word');
  }
  const insecure = await command(['collect', '--url', 'http://dbvitals.example.com', '--name', 'rome']);
  expect([insecure.exit, insecure.stderr]).toEqual([2, expect.stringContaining('https://')]);
  mkdirSync(join(folder.path, 'key-rome'));
  writeFileSync(join(folder.path, 'key-rome', 'collector-key.json'), '{}', { mode: 0o644 });
  const file = writeFile('rome.yaml', JSON.stringify({ connections: { a: good } }));
  const shared = await command(collectArguments(file, tokenFile, 'rome'));
  expect([shared.exit, shared.stderr]).toEqual([1, expect.stringContaining('chmod 600')]);
});

test('a file of apply names the collector, and an export is applied without a change', async () => {
  const name = 'Collected by file';
  const { id } = await commandJson<{ id: number }>([
    ...['account', 'create', '--name', name, '--kind', 'company', '--plan', 'enterprise'],
  ]);
  await commandJson(['collector', 'enrol', '--account', `${id}`, '--name', 'oslo']);
  const file = (connection: object) =>
    JSON.stringify({ accounts: [{ name, plan: 'enterprise', connections: [connection] }] });
  const apply = async (connection: object) =>
    command(['apply', '-f', '-', '--json'], { input: file(connection) });
  const shop = { name: 'shop', collector: 'oslo', engine: 'postgres', every: '1m' };
  const changes = async (connection: object) => JSON.parse((await apply(connection)).stdout).changes;
  expect(await changes(shop)).toMatchObject([{ action: 'add', name: 'shop' }]);
  expect(await changes(shop)).toEqual([]);
  expect(await changes({ ...shop, every: '2m' })).toMatchObject([{ action: 'change', changed: ['every'] }]);
  const exported = await commandJson<{ accounts: { connections: object[] }[] }>([
    'apply',
    '--export',
    '--account',
    `${id}`,
  ]);
  expect(exported.accounts[0]?.connections).toMatchObject([
    { name: 'shop', collector: 'oslo', engine: 'postgres' },
  ]);
  expect(exported.accounts[0]?.connections[0]).not.toHaveProperty('address');
  const again = await command(['apply', '-f', '-', '--json'], { input: JSON.stringify(exported) });
  expect([again.stderr, JSON.parse(again.stdout).changes]).toEqual(['', []]);
  const { engine: _, ...noEngine } = shop;
  const wrong: [object, RegExp][] = [
    [{ ...shop, password: { env: 'X' } }, /Leave out password/],
    [{ ...shop, tls: 'require' }, /Leave out tls/],
    [noEngine, /Give engine/],
    [{ name: 'shop', url: 'postgres://a@db.invalid/x' }, /measured by collector oslo/],
    [{ ...shop, name: 'other', url: 'postgres://a@b/c' }, /Leave out url/],
    [{ ...shop, name: 'other', collector: 'nowhere' }, /no collector of this name/],
  ];
  for (const [connection, words] of wrong) {
    const { exit, stderr } = await apply(connection);
    expect([exit, stderr]).toEqual([expect.any(Number), expect.stringMatching(words)]);
    expect(exit).not.toBe(0);
  }
});
