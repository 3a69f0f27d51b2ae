import { createHash, generateKeyPairSync } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { startTestStore, WATCHER_PASSWORD } from '../support/store.ts';
import { makeAccount } from './account.ts';
import { readLog } from './activity-log.ts';
import { command, commandJson } from './command.ts';
import type { Connection, HealthCheck } from './records.ts';
import { temporaryFolder } from './running-service.ts';

const account = makeAccount();

async function add(url: string, ...options: string[]): Promise<string> {
  const { id } = await account;
  const words = ['connection', 'add', '--account', String(id), '--name', 'shop', '--url', url];
  return String((await commandJson<Connection>([...words, ...options])).id);
}

test('a change is logged with old and new values and without the password', async () => {
  const { key } = await account;
  const id = await add('postgres://watcher:unspoken@db.example.com/shop', '--expected-standbys', '1');
  const folder = temporaryFolder();
  const certificate = join(folder.path, 'ca.pem');
  writeFileSync(certificate, `a comment\n${rootCertificates[0]}`);
  await commandJson(
    [
      'connection',
      'change',
      id,
      '--expected-standbys',
      '2',
      '--every',
      '10m',
      '--ca-file',
      certificate,
      '--threshold',
      'PG_CONN_SATURATION.warning=0.2',
      '--threshold',
      'pg_conn_saturation.critical=0.9',
      '--expose-password',
      'yes',
      '--password-stdin',
    ],
    { input: 'unspoken too\n' },
  );
  folder.remove();
  await commandJson(['connection', 'change', id, '--threshold', 'PG_CONN_SATURATION.warning=']);
  const changes = (await readLog(key)).filter(({ action_type }) => action_type === 'connection_changed');
  expect(changes.map(({ properties }) => properties)).toMatchObject([
    {
      changed: [
        'thresholds',
        'expected_standbys',
        'password_exposable',
        'every',
        'ca_certificate',
        'password',
      ],
      from: {
        thresholds: {},
        expected_standbys: 1,
        password_exposable: false,
        every: '300s',
        ca_certificate: null,
      },
      to: {
        thresholds: { PG_CONN_SATURATION: { warning: 0.2, critical: 0.9 } },
        expected_standbys: 2,
        password_exposable: true,
        every: '600s',
        ca_certificate: [expect.stringMatching(/^[0-9A-F:]{95}$/)],
      },
    },
    { changed: ['thresholds'], to: { thresholds: { PG_CONN_SATURATION: { critical: 0.9 } } } },
  ]);
  expect(JSON.stringify(changes)).not.toContain('unspoken');
});

test('a stored password is not sent to another host', async () => {
  const id = await add('postgres://watcher:unspoken@db.example.com/shop');
  const change = ['connection', 'change', id, '--url'];
  for (const other of [
    'postgres://watcher@other.example.com/shop',
    'postgres://watcher@db.example.com:6543/shop',
  ]) {
    const { exit, stderr } = await command([...change, other]);
    expect([exit, stderr]).toEqual([2, expect.stringMatching(/^error: .*changes the host or port.*\.\n$/)]);
  }
  expect(await commandJson([...change, 'postgres://other@db.example.com/else'])).toMatchObject({
    port: 5432,
  });
  const given = await commandJson(
    [...change, 'postgres://watcher@other.example.com/shop', '--password-stdin'],
    {
      input: 'unspoken\n',
    },
  );
  expect(given).toMatchObject({ host: 'other.example.com' });
});

test('a stored password is not sent with less protection or by another route until it is entered again', async () => {
  const { key } = await account;
  const id = await add('postgres://watcher:unspoken@db.example.com/shop', '--tls', 'require');
  const folder = temporaryFolder();
  const certificate = join(folder.path, 'ca.pem');
  writeFileSync(certificate, rootCertificates[0] ?? '');
  const change = ['connection', 'change', id];
  const weaker = [
    ['--tls', 'disable'],
    ['--expose-password', 'yes'],
    ['--ca-file', certificate],
    ['--ssh', 'tunnel@bastion.example.com'],
  ];
  for (const options of weaker) {
    const { exit, stderr } = await command([...change, ...options]);
    expect([exit, stderr], options.join(' ')).toEqual([
      2,
      expect.stringMatching(/^error: .*password.*\.\n$/),
    ]);
  }
  // What protects it more, or does not touch it, needs none.
  await commandJson([...change, '--tls', 'verify-full', '--expose-password', 'no', '--every', '10m']);
  for (const options of weaker)
    await commandJson([...change, ...options, '--password-stdin'], { input: 'unspoken\n' });
  folder.remove();
  const told = (await readLog(key)).filter(({ properties }) => properties['connection_id'] === Number(id));
  expect(told.slice(2).map(({ properties }) => properties['changed'])).toEqual([
    ['tls', 'password'],
    ['password_exposable', 'password'],
    ['ca_certificate', 'password'],
    ['connection_type', 'ssh_username', 'ssh_host', 'ssh_port', 'password'],
  ]);
});

test('verify-ca needs its own authority, and is less than verify-full', async () => {
  const folder = temporaryFolder();
  onTestFinished(() => folder.remove());
  const certificate = join(folder.path, 'ca.pem');
  writeFileSync(certificate, rootCertificates[0] ?? '');
  const id = await add('postgres://watcher:unspoken@db.example.com/shop', '--ca-file', certificate);
  const change = ['connection', 'change', id, '--tls', 'verify-ca'];
  expect((await command(change)).stderr).toMatch(/enter the password again/);
  await commandJson([...change, '--password-stdin'], { input: 'unspoken\n' });

  const bare = await add('postgres://watcher:unspoken@other.example.com/shop');
  const { exit, stderr } = await command(
    ['connection', 'change', bare, '--tls', 'verify-ca', '--password-stdin'],
    { input: 'unspoken\n' },
  );
  expect([exit, stderr]).toEqual([2, expect.stringMatching(/^error: .*verify-ca trusts only.*\.\n$/)]);
  const once = [
    'check',
    'run',
    '--tls',
    'verify-ca',
    '--url',
    'postgres://watcher:unspoken@127.0.0.1:1/shop',
  ];
  expect((await command(once)).stderr).toMatch(/verify-ca trusts only/);
  const exposing = await command([...once, '--ca-file', certificate, '--expose-password', 'yes']);
  expect(exposing.stdout).toContain('CONN_UNREACHABLE');
});

test('the URL may have the TLS mode, and --tls has no other one', async () => {
  const id = await add('postgres://watcher:unspoken@db.example.com/shop?sslmode=require');
  const change = ['connection', 'change', id, '--url'];
  const without = 'postgres://watcher@db.example.com/shop?sslmode=disable';
  expect((await command([...change, without])).stderr).toMatch(/enter the password again/);
  await commandJson([...change, 'postgres://watcher@db.example.com/shop?sslmode=verify-full']);
  const { exit, stderr } = await command([...change, without, '--tls', 'require']);
  expect([exit, stderr]).toEqual([
    2,
    expect.stringMatching(
      /^error: The URL asks for the TLS mode disable, and the setting is require: .*\.\n$/,
    ),
  ]);
  const once = ['check', 'run', '--url', 'postgres://watcher:unspoken@127.0.0.1:1/shop?sslmode=verify-ca'];
  expect((await command(once)).stderr).toMatch(/verify-ca trusts only/);
  const bound = 'postgres://watcher:unspoken@127.0.0.1:1/shop?sslmode=require&channel_binding=require';
  for (const words of [change, ['check', 'run', '--url']]) {
    const rejected = await command([...words, bound]);
    expect([rejected.exit, rejected.stderr]).toEqual([
      2,
      expect.stringMatching(/Remove channel_binding=require .* use sslmode=verify-full: .*\.\n$/),
    ]);
  }
});

test('a MySQL connection can change to MariaDB by URL, but never to PostgreSQL', async () => {
  const { id: accountId, key } = await makeAccount();
  const words = ['connection', 'add', '--account', String(accountId), '--name', 'shop', '--url'];
  const folder = temporaryFolder();
  const file = join(folder.path, 'server.pem');
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  writeFileSync(file, `${rootCertificates[0]}\n${pem}`);
  const added = await commandJson<Connection>([
    ...words,
    'mysql://watcher@db.example.com',
    '--ca-file',
    file,
  ]);
  expect(added).toMatchObject({ host: 'db.example.com', port: 3306, connection_type: 'direct' });
  const change = ['connection', 'change', String(added.id)];
  const moved = [...change, '--url', 'mariadb://watcher@/?socket=/run/mysqld/mysqld.sock'];
  expect(await commandJson(moved)).toMatchObject({
    host: '/run/mysqld/mysqld.sock',
    port: 3306,
    connection_type: 'unix_socket',
  });
  for (const [options, said] of [
    [
      ['--url', 'postgres://watcher@db.example.com/shop'],
      /connection to MySQL or MariaDB: remove it and add a new one/,
    ],
    [['--threshold', 'PG_DEAD_TUPLES.warning=0.2'], /PG_DEAD_TUPLES is not a check for MySQL/],
    [['--expected-standbys', '1'], /Expected standbys are for PostgreSQL only/],
  ] as const) {
    const { exit, stderr } = await command([...change, ...options]);
    expect([exit, stderr]).toEqual([2, expect.stringMatching(said)]);
  }
  const { exit, stderr } = await command([...words, 'postgres://watcher@db/shop', '--ca-file', file]);
  expect([exit, stderr]).toEqual([2, expect.stringMatching(/public key, which is for MySQL/)]);
  folder.remove();
  const changes = (await readLog(key)).filter(({ action_type }) => action_type === 'connection_changed');
  expect(changes.map(({ properties }) => properties)).toMatchObject([
    {
      changed: ['engine', 'connection_type', 'host', 'tls'],
      from: { engine: 'mysql', connection_type: 'direct', tls: 'verify-full' },
      to: { engine: 'mariadb', connection_type: 'unix_socket', tls: 'disable' },
    },
  ]);
});

test('a change of MySQL’s public key is logged with its fingerprint', async () => {
  const { key } = await account;
  const id = await add('mysql://watcher@db.example.com');
  const folder = temporaryFolder();
  const file = join(folder.path, 'server.pem');
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(file, publicKey.export({ type: 'spki', format: 'pem' }));
  await commandJson(['connection', 'change', id, '--ca-file', file]);
  folder.remove();
  const [told] = (await readLog(key))
    .filter(({ properties }) => properties['connection_id'] === Number(id))
    .slice(-1);
  const fingerprint = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
  const shown = fingerprint.toUpperCase().replace(/..(?=.)/g, '$&:');
  expect(told?.properties).toMatchObject({ changed: ['ca_certificate'], to: { ca_certificate: [shown] } });
});

test('unknown thresholds and broken certificates are refused, and the error lists the valid names', async () => {
  const id = await add('postgres://watcher@db.example.com/shop');
  const change = ['connection', 'change', id];
  const refused = async (...options: string[]) => {
    const { exit, stderr } = await command([...change, ...options]);
    expect(exit, options.join(' ')).toBe(2);
    return stderr;
  };
  expect(await refused('--threshold', 'PG_DEAD_TUPLES.wrong=1')).toContain('minimum_rows, warning, naps');
  expect(await refused('--threshold', 'PG_NONSENSE.warning=1')).toContain('PG_NONSENSE');
  expect(await refused('--threshold', 'PG_FSYNC_OFF.warning=1')).toContain('has no thresholds');
  await refused('--threshold', 'PG_DEAD_TUPLES.warning=-1');
  await refused('--threshold', 'PG_DEAD_TUPLES=1');
  await refused('--ca-file', '/nowhere/ca.pem');
  await refused('--ca-file', '/etc/passwd');
  await refused('--expected-standbys', '1001');
  await refused('--expose-password', 'maybe');
});

test('check run --url checks without a store; the exit code is the worst status', async () => {
  // One that nobody else asks: the run's own store may be warned of what other tests do there.
  const quiet = await startTestStore();
  onTestFinished(() => quiet.stop());
  const url = `postgres://watcher:${WATCHER_PASSWORD}@/store?host=${quiet.address[0]?.host}`;
  const run = ['check', 'run', '--tls', 'disable', '--url'];
  const folder = temporaryFolder();
  const environment = { DBVITALS_DATA_DIR: join(folder.path, 'none') };
  const well = await command([...run, url, '--json'], { environment });
  const { score, summary_text, checks, ...rest }: HealthCheck = JSON.parse(well.stdout);
  // The newest build at hand may be behind.
  const warnings = checks.filter(({ status }) => status === 'warning').map(({ check_id }) => check_id);
  expect(['', 'PG_MINOR_OUTDATED']).toContain(warnings.join(' '));
  expect([well.exit, well.stderr]).toEqual([warnings.length, '']);
  expect([score > 80, typeof summary_text, rest]).toEqual([true, 'string', {}]);
  expect(checks.find(({ check_id }) => check_id === 'CONN_UNREACHABLE')?.status).toBe('ok');
  const threshold = ['--threshold', 'PG_SHARED_BUFFERS_LOW.warning_bytes=999999999999'];
  const warned = await command([...run, url, ...threshold], { environment });
  expect(warned.exit).toBe(1);
  expect(warned.stdout).toMatch(/\nwarning +PG_SHARED_BUFFERS_LOW +/);
  expect(warned.stdout).toMatch(/\nCost on the server: \d+ ms, \d+ statements, \d+ kB read\.\n$/);
  const down = await command([...run, 'postgres://watcher:unspoken@127.0.0.1:1/shop'], { environment });
  expect(down.exit).toBe(2);
  expect(down.stdout).toContain('CONN_UNREACHABLE');
  expect(down.stdout).not.toContain('unspoken');
  expect(existsSync(environment.DBVITALS_DATA_DIR)).toBe(false);
  folder.remove();
});
