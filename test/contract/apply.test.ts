import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { makeKey } from './account.ts';
import { readLog } from './activity-log.ts';
import { read } from './ask.ts';
import { command, commandJson } from './command.ts';
import type { Connection, Entry, List, Member } from './records.ts';
import { startProcess, temporaryFolder } from './running-service.ts';

interface Difference {
  action: string;
  what: string;
  account: string;
  name: string;
  changed: string[];
  from: Record<string, unknown>;
  to: Record<string, unknown>;
}

interface Applied {
  applied: boolean;
  accounts: { id: number | null; name: string }[];
  changes: Difference[];
  unnamed: Difference[];
}

const SECRETS = { SHOP_PASSWORD: 'unspoken shop', CRM_URL: 'mysql://watcher:unspoken%20crm@crm.example.com' };

const APPLY = ['apply', '-f', '-', '--secret-env', 'SHOP_*,CRM_URL'];

/** Runs `apply` on a text. */
async function apply(text: string, options: string[] = [], secrets: Record<string, string> = SECRETS) {
  const environment = { ...inject('environment'), ...secrets };
  return commandJson<Applied>([...APPLY, ...options], { environment, input: text });
}

const brief = ({ changes }: Applied) => changes.map(({ action, what, name }) => `${action} ${what} ${name}`);
const events = (log: Entry[]) => log.filter(({ action_type }) => action_type !== 'api_request');

const FILE = (account: string) => `
accounts:
  - name: ${account}
    plan: enterprise
    requests_per_minute: 100000
    members:
      - { email: ada@example.com, name: Ada, roles: [owner] }
      - { email: bob@example.com, name: Bob, roles: [viewer, auditor], status: invited }
    connections:
      - name: shop
        url: postgres://watcher@db.example.com/shop
        password: { env: SHOP_PASSWORD }
        thresholds: { PG_CONN_SATURATION: { warning: 0.2, critical: 0.5 }, PG_LONG_QUERY: { warning_seconds: 60 } }
        silences:
          - { check: PG_NO_PRIMARY_KEY, object: public.log, reason: accepted_risk, note: append-only, until: 2035-01-31 }
          - { check: PG_CACHE_HIT_LOW, reason: wont_fix, note: over long ago, until: 2020-01-31 }
      - { name: crm, url: { env: CRM_URL }, every: 10m, tls: require }
`;

test('the first apply creates everything in the file, the second changes nothing, the third only what differs', async () => {
  const name = `As code ${Date.now()}`;
  const planned = await apply(FILE(name), ['--plan']);
  expect([planned.applied, planned.accounts]).toEqual([false, [{ id: null, name }]]);
  const drift = async () => {
    const environment = { ...inject('environment'), ...SECRETS };
    const args = [...APPLY, '--plan', '--exit-code'];
    return (await command(args, { environment, input: FILE(name) })).exit;
  };
  expect(await drift()).toBe(3);
  const made = await apply(FILE(name));
  expect(await drift()).toBe(0);
  expect(made.changes).toEqual(planned.changes);
  expect(brief(made)).toEqual([
    `add account ${name}`,
    'add member ada@example.com',
    'add member bob@example.com',
    'add connection shop',
    'add silence shop / PG_NO_PRIMARY_KEY / public.log',
    'add connection crm',
  ]);
  const id = made.accounts[0]?.id ?? 0;
  const { key } = await makeKey(id, 'suite');
  const connections = await read<List<Connection>>('/api/v1/health/connections', key);
  expect(connections.data).toMatchObject([
    { name: 'shop', host: 'db.example.com', port: 5432, connection_type: 'direct' },
    { name: 'crm', host: 'crm.example.com', port: 3306 },
  ]);
  const { data: members } = await read<List<Member>>('/api/v1/team/members', key);
  expect(members).toMatchObject([
    { email: 'ada@example.com', name: 'Ada', roles: ['owner'], status: 'active' },
    { email: 'bob@example.com', roles: ['auditor', 'viewer'], status: 'invited' },
  ]);
  const log = events(await readLog(key));
  expect(log.map(({ action_type }) => action_type).slice(0, 6)).toEqual([
    'account_created',
    'member_added',
    'member_added',
    'connection_added',
    'silence_added',
    'connection_added',
  ]);
  expect(log[4]?.properties).toMatchObject({ actor: 'command line', until: '2035-02-01T00:00:00.000Z' });

  const again = await apply(FILE(name));
  expect([again.applied, again.changes, again.unnamed]).toEqual([true, [], []]);
  expect(again.accounts).toEqual([{ id, name }]);

  const exported = await commandJson(['apply', '--export', '--account', `${id}`]);
  expect(exported).toMatchObject({ accounts: [{ name, connections: [{ name: 'shop' }, { name: 'crm' }] }] });
  expect(JSON.stringify(exported)).not.toContain('unspoken');
  expect(events(await readLog(key))).toHaveLength(log.length);

  const changed = FILE(name)
    .replace('    requests_per_minute: 100000\n', '')
    .replace('roles: [viewer, auditor], status: invited', 'roles: [auditor]')
    .replace(', PG_LONG_QUERY: { warning_seconds: 60 }', '')
    .replace('critical: 0.5 }', 'critical: 0.6 }')
    .replace('append-only', 'append-only as agreed')
    .replace('every: 10m, ', '');
  const secrets = { ...SECRETS, SHOP_PASSWORD: 'unspoken anew' };
  const { changes } = await apply(changed, [], secrets);
  expect(changes.map(({ name: of, changed: fields, from, to }) => [of, fields, from, to])).toEqual([
    [name, ['requests_per_minute'], { requests_per_minute: 100_000 }, { requests_per_minute: null }],
    ['bob@example.com', ['roles'], { roles: ['auditor', 'viewer'] }, { roles: ['auditor'] }],
    [
      'shop',
      ['thresholds', 'password'],
      {
        thresholds: {
          PG_CONN_SATURATION: { warning: 0.2, critical: 0.5 },
          PG_LONG_QUERY: { warning_seconds: 60 },
        },
      },
      { thresholds: { PG_CONN_SATURATION: { warning: 0.2, critical: 0.6 } } },
    ],
    [
      'shop / PG_NO_PRIMARY_KEY / public.log',
      ['note'],
      { note: 'append-only' },
      { note: 'append-only as agreed' },
    ],
    ['crm', ['every'], { every: '600s' }, { every: '300s' }],
  ]);
  const told = events(await readLog(key, log.at(-1)?.id));
  expect(told.map(({ action_type }) => action_type)).toEqual([
    'account_changed',
    'member_changed',
    'connection_changed',
    'silence_ended',
    'silence_added',
    'connection_changed',
  ]);
  expect(told[2]?.properties).toMatchObject({ changed: ['thresholds', 'password'] });
  // A password that the file does not have is somebody else's.
  const without = changed.replace('        password: { env: SHOP_PASSWORD }\n', '');
  expect((await apply(without, [])).changes).toEqual([]);
});

test('what is missing from the file is reported and kept; --prune removes it, but never an account', async () => {
  const name = `Pruned ${Date.now()}`;
  const { accounts } = await apply(FILE(name));
  const { key } = await makeKey(accounts[0]?.id ?? 0, 'suite');
  const start = `accounts:\n  - name: ${name}\n    plan: enterprise\n`;
  const shop = '    connections: [{ name: shop, url: postgres://watcher@db.example.com/shop, silences: [],';
  const lessThresholds = `thresholds: { PG_CONN_SATURATION: { critical: 0.5, warning: 0.2 }, PG_LONG_QUERY: { warning_seconds: 60 } } }]\n`;
  const less = `${start}    requests_per_minute: 100000\n${shop} ${lessThresholds}`;
  const unnamed = ['silence shop / PG_NO_PRIMARY_KEY / public.log', 'connection crm'];
  const stays = await apply(less);
  expect(stays.changes).toEqual([]);
  expect(stays.unnamed.map(({ what, name: of }) => `${what} ${of}`)).toEqual(unnamed);
  expect(brief(await apply(less, ['--prune']))).toEqual(unnamed.map((one) => `remove ${one}`));
  expect(await apply(less, ['--prune'])).toMatchObject({ changes: [], unnamed: [] });
  const { data } = await read<List<Connection>>('/api/v1/health/connections', key);
  expect(data.map((connection) => connection.name)).toEqual(['shop']);
  // The file has no list of members, and the next one no account at all.
  expect((await read<List<Member>>('/api/v1/team/members', key)).data).toHaveLength(2);
  expect(await apply('accounts: []', ['--prune'])).toMatchObject({ changes: [], unnamed: [] });
  expect((await read<List<Connection>>('/api/v1/health/connections', key)).data).toHaveLength(1);
});

test('a moved connection needs its password in the file, or the error gives line and column', async () => {
  const name = `Moved ${Date.now()}`;
  const folder = temporaryFolder();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(join(folder.path, 'key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), {
    mode: 0o600,
  });
  writeFileSync(join(folder.path, 'password'), 'unspoken shop\n', { mode: 0o600 });
  writeFileSync(join(folder.path, 'ca'), rootCertificates[0] ?? '');
  const file = join(folder.path, 'dbvitals.yaml');
  const run = async (connection: string) => {
    const account = `name: ${name}, plan: team, connections: [{ name: shop, ${connection} }]`;
    writeFileSync(file, `accounts:\n  - { ${account} }`);
    return command(['apply', '-f', file, '--secrets-dir', folder.path, '--json']);
  };
  const done = async (connection: string) => {
    const { stdout } = await run(connection);
    const { changes }: Applied = JSON.parse(stdout);
    return changes.map(({ action, changed }) => [action, ...changed]);
  };
  const password = 'password: { file: password }';
  const ssh = (user: string) => `ssh: { username: ${user}, host: bastion, key: { file: key } }`;
  const direct = 'url: postgres://watcher@db/shop';
  expect((await done(`${direct}, ${password}`)).at(-1)).toEqual(['add', 'host', 'port']);
  const { exit, stderr } = await run('url: postgres://watcher@other/shop');
  const refused =
    /^error: .*dbvitals.yaml:2:\d+: accounts\[0\].connections\[0\]: .* enter its password, .*\n$/;
  expect([exit, stderr]).toEqual([2, expect.stringMatching(refused)]);
  const exposed = await run(`${direct}, tls: disable, expose_password: true`);
  expect([exposed.exit, exposed.stderr]).toEqual([2, expect.stringMatching(/enter the password again/)]);
  const tunnel = 'address: { engine: postgres, host: db, database: shop, username: watcher }';
  expect(await done(`${tunnel}, ${password}, ${ssh('one')}`)).toEqual([
    ['change', 'connection_type', 'ssh_username', 'ssh_host', 'ssh_port', 'ssh_key'],
  ]);
  expect(await done(`${tunnel}, ${password}, ca_file: ca, ${ssh('two')}`)).toEqual([
    ['change', 'ssh_username', 'ca_certificate'],
  ]);
  expect(await done(`${direct}, ${password}`)).toEqual([['change', 'connection_type', 'ca_certificate']]);
  const socket = 'url: postgres://watcher@/shop?host=/run/postgresql';
  expect(await done(`${socket}, ${password}`)).toEqual([['change', 'connection_type', 'host', 'tls']]);
  expect(await done(`${socket}, ${password}`)).toEqual([]);
  folder.remove();
});

test("secrets are read from one folder only, and never from the service's own files", async () => {
  const folder = temporaryFolder();
  const at = (...names: string[]) => join(folder.path, ...names);
  for (const name of ['secrets', 'data', 'secrets/folder']) mkdirSync(at(name));
  const put = (name: string, mode = 0o600, text = 'unspoken file\n') => {
    writeFileSync(at(name), text);
    chmodSync(at(name), mode);
  };
  for (const name of ['secrets/good', 'outside', 'data/secret.key', 'secrets/own.key', 'secrets/own.crt'])
    put(name);
  put('secrets/open', 0o644);
  put('secrets/group', 0o640);
  put('secrets/large', 0o600, 'x'.repeat(65_537));
  symlinkSync(at('outside'), at('secrets/link'));
  symlinkSync(at('data/secret.key'), at('secrets/data-link'));
  symlinkSync(at('data/secret.key'), at('ca-link'));
  symlinkSync('good', at('secrets/good-link'));
  linkSync(at('outside'), at('secrets/hard-link'));
  execFileSync('mkfifo', [at('secrets/pipe')]);
  const environment = {
    ...inject('sharedStore'),
    DBVITALS_DATA_DIR: at('data'),
    TLS_KEY_FILE: at('secrets/own.key'),
    TLS_CERT_FILE: at('secrets/own.crt'),
  };
  const refusals: [string, RegExp][] = [
    ['../outside', /is outside the folder of --secrets-dir/],
    [at('outside'), /is outside the folder/],
    ['link', /is outside the folder/],
    ['data-link', /is in the data folder of dbvitals/],
    ['own.key', /is the file of TLS_KEY_FILE/],
    ['hard-link', /is a hard link/],
    ['open', /secrets\/open can be read by other users: run chmod 600/],
    ['group', /can be read by other users/],
    ['folder', /is not a regular file/],
    ['pipe', /is not a regular file/],
    ['large', /is over 64 KiB/],
    ['absent', /secrets\/absent cannot be read \(ENOENT\)/],
  ];
  const entry = (file: string, index: number) =>
    `      - { name: c${index}, url: postgres://u@db/d, password: { file: ${JSON.stringify(file)} } }\n`;
  const start = `accounts:\n  - name: Files ${Date.now()}\n    plan: team\n    connections:\n`;
  const bad = [
    ...refusals.map(([file], index) => entry(file, index)),
    `      - { name: ca, url: postgres://u@db/d, ca_file: ${at('ca-link')} }\n`,
    `      - { name: crt, url: postgres://u@db/d, ca_file: ${at('secrets/own.crt')} }\n`,
    `      - { name: ssh, url: postgres://u@db/d, ssh: { username: u, host: h, key: { file: open } } }\n`,
  ];
  const apply = ['apply', '-f', '-', '--secrets-dir', at('secrets')];
  const { exit, stderr } = await command(apply, { environment, input: start + bad.join('') });
  const said = [
    ...refusals.map(([, sentence]) => sentence),
    /ca_file: .*in the data folder/,
    /ca_file: .*TLS_CERT_FILE/,
    /ssh\.key: .*can be read by other users/,
  ];
  expect([exit, stderr.trim().split('\n')]).toEqual([2, said.map((one) => expect.stringMatching(one))]);
  expect(stderr).not.toContain('unspoken');

  const good = start + entry('good', 0) + entry('good-link', 1);
  const unnamed = await command(['apply', '-f', '-'], { environment, input: good });
  expect([unnamed.exit, unnamed.stderr]).toEqual([
    2,
    expect.stringMatching(/--secrets-dir or DBVITALS_SECRETS_DIR/),
  ]);
  const named = { ...environment, DBVITALS_SECRETS_DIR: at('secrets') };
  const done = await commandJson<Applied>(['apply', '-f', '-'], { environment: named, input: good });
  expect([done.applied, done.changes.length]).toEqual([true, 3]);
  const again = await commandJson<Applied>([...apply, '--plan'], { environment, input: good });
  expect(again).toMatchObject({ applied: false, changes: [] });

  const add = ['connection', 'add', '--account', String(done.accounts[0]?.id), '--name', 'x', '--url'];
  for (const [option, file, sentence] of [
    ['--ca-file', at('ca-link'), /ca-link is in the data folder/],
    ['--ssh-key-file', at('secrets/own.key'), /is the file of TLS_KEY_FILE/],
    ['--ssh-key-file', at('secrets/open'), /can be read by other users/],
  ] as const) {
    const ssh = option === '--ssh-key-file' ? ['--ssh', 'u@h'] : [];
    const refused = await command([...add, 'postgres://u@db/d', option, file, ...ssh], { environment });
    expect([refused.exit, refused.stderr]).toEqual([2, expect.stringMatching(sentence)]);
  }
  folder.remove();
});

test('all or nothing: a useless secret key, a concurrent edit, two applies at once', async () => {
  const name = `Whole ${Date.now()}`;
  const { accounts } = await apply(FILE(name));
  const id = accounts[0]?.id ?? 0;
  const { key } = await makeKey(id, 'suite');
  const log = events(await readLog(key));
  const more = `accounts:
  - name: ${name}
    plan: enterprise
    requests_per_minute: 100000
    members: [{ email: eve@example.com, name: Eve, roles: [viewer] }]
    connections: [{ name: new, url: postgres://watcher@db/new, password: { env: SHOP_PASSWORD } }]
`;
  const environment = { ...inject('environment'), ...SECRETS };
  const sealed = { ...environment, DBVITALS_SECRET_KEY: '7d'.repeat(32) };
  const failed = await command([...APPLY, '--json'], { environment: sealed, input: more });
  expect(failed).toEqual({
    exit: 1,
    stdout: '',
    stderr: expect.stringMatching(/^error: The secret key decrypts nothing in the store: [^\n]*\n$/),
  });

  const client = new pg.Client({ connectionString: inject('sharedStore')['DATABASE_URL'] });
  await client.connect();
  await client.query('begin');
  await client.query('select from activity_head where account_id = $1 for update', [id]);
  const late = startProcess(APPLY, environment, more);
  await late.says(/^\+ connection .* new: /m);
  await client.query(
    `insert into member (account_id, name, email, roles, status, joined_at)
     values ($1, 'Eve', 'EVE@example.com', '{viewer}', 'active', now())`,
    [id],
  );
  await client.query('commit');
  expect(await late.ended).toBe(1);
  expect(late.output()).toMatch(
    /\nerror: The store was changed in the meantime, .* run the command again\.\n$/,
  );
  await client.query(`delete from member where account_id = $1 and name = 'Eve'`, [id]);
  await client.end();
  expect(events(await readLog(key))).toEqual(log);

  const both = `accounts: [{ name: Twice ${name}, plan: team }]`;
  const outcomes = await Promise.all(
    [both, both].map((input) => command(['apply', '-f', '-'], { environment, input, ownProcess: true })),
  );
  for (const { exit, stderr } of outcomes)
    if (exit !== 0) expect(stderr).toMatch(/The store was changed in the meantime/);
  const listed = await commandJson<{ name: string }[]>(['account', 'list']);
  expect(listed.filter((account) => account.name === `Twice ${name}`)).toHaveLength(1);
});

test('owners change places, and the last one stays; levels of thresholds keep their order', async () => {
  const name = `Owners ${randomUUID()}`;
  const file = (ada: string, bob: string, more = '') => `accounts:
  - name: ${name}
    plan: team
    members:
      - { email: ada@example.com, name: Ada, roles: [${ada}] }
      - { email: bob@example.com, name: Bob, roles: [${bob}] }
${more}`;
  const refused = async (input: string, ...options: string[]) => {
    const { exit, stderr } = await command(['apply', '-f', '-', ...options], { input });
    expect(exit, stderr).not.toBe(0);
    return stderr;
  };
  await apply(file('owner', 'viewer'));
  await apply(file('viewer', 'owner')); // whichever comes first in the file
  await apply(file('owner', 'viewer'));
  const suspended = file('owner', 'viewer').replace('[owner] }', '[owner], status: suspended }');
  const away = [file('admin', 'viewer'), suspended];
  for (const options of [['--plan'], []])
    for (const input of away)
      expect(await refused(input, ...options)).toContain(
        'accounts[0].members: The account would have no owner',
      );
  const others = file('owner', 'viewer').replace(/.*ada@.*\n/, '');
  expect(await refused(others, '--prune')).toContain('The account would have no owner');
  expect((await apply(others)).unnamed).toHaveLength(1);

  const levels = (account: string, tag: string) =>
    file(
      'owner',
      'viewer',
      `    thresholds: { PG_CONN_SATURATION: { ${account} } }\n    tag_thresholds: { pci: { PG_CONN_SATURATION: { ${tag} } } }\n`,
    );
  for (const options of [['--plan'], []]) {
    expect(await refused(levels('warning: 0.9, critical: 0.5', 'warning: 0.5'), ...options)).toContain(
      'would be reached before',
    );
    expect(await refused(levels('critical: 0.85', 'warning: 0.9'), ...options)).toContain('of the tag pci');
    expect(await refused(levels('critical: 0.7', 'warning: 0.6'), ...options)).toContain(
      'accounts[0].thresholds: PG_CONN_SATURATION: critical 0.7 (of the account) would be reached before warning 0.8 (the default)',
    );
  }
  await apply(levels('critical: 0.95', 'warning: 0.9'));
  await apply(levels('critical: 0.85', 'warning: 0.82'));
});

test('every mistake is reported with line, column and field, without the value', async () => {
  const refused = async (input: string) => {
    const environment = { ...inject('environment'), PIN: 'unspoken\nline' };
    const args = ['apply', '-f', '-', '--secret-env', 'PIN', '--secret-env', 'NOT_SET', '--json'];
    const { exit, stdout, stderr } = await command(args, { environment, input });
    expect([exit, stdout]).toEqual([2, '']);
    expect(stderr).not.toMatch(/unspoken| at .*\.ts:\d/);
    return stderr
      .trim()
      .split('\n')
      .map((line) => line.replace('error: standard input:', ''));
  };
  const start = 'accounts:\n  - name: Broken\n    plan: team\n';
  const wrongForm = `accounts:
  - name: Broken
    plan: gold
    colour: unspoken
    members:
      - { email: a@b, name: A, roles: [king], status: 4 }
    connections:
      - password: unspoken
        ssh: { username: u, host: h, port: 70000 }
        silences: [{ check: PG_NONSENSE, reason: unspoken, note: x }]
        thresholds: { PG_DEAD_TUPLES: { warning: -1, colour: 2 }, PG_NONSENSE: {} }
      - { name: x, url: 4, tls: maybe, password: { unspoken }, expected_standbys: 1001 }
      - { name: y, url: postgres://u@h/d, password: { env: DBVITALS_SECRET_KEY } }
`;
  expect(await refused(wrongForm)).toEqual(
    [
      ['3:5', 'accounts[0].plan: One of individual, team, business, enterprise.'],
      ['4:5', 'accounts[0].colour: Unknown field: use one of name, '],
      ['6:40', 'accounts[0].members[0].roles[0]: '],
      ['6:47', 'accounts[0].members[0].status: '],
      ['8:9', 'accounts[0].connections[0]: Give name.'],
      ['8:9', 'accounts[0].connections[0].password: '],
      ['9:38', 'accounts[0].connections[0].ssh.port: A port, 1 to 65535.'],
      ['10:22', 'accounts[0].connections[0].silences[0].check: '],
      ['10:42', 'accounts[0].connections[0].silences[0].reason: '],
      ['11:41', 'accounts[0].connections[0].thresholds.PG_DEAD_TUPLES.warning: '],
      ['11:54', 'accounts[0].connections[0].thresholds.PG_DEAD_TUPLES.colour: Unknown field'],
      ['11:67', 'accounts[0].connections[0].thresholds.PG_NONSENSE: There is no such check'],
      ['12:20', 'accounts[0].connections[1].url: '],
      ['12:28', 'accounts[0].connections[1].tls: '],
      ['12:52', 'accounts[0].connections[1].password: Unknown field: use one of env, file.'],
      ['12:64', 'accounts[0].connections[1].expected_standbys: '],
      ['13:55', 'accounts[0].connections[2].password.env: '],
    ].map(([place, said]) => expect.stringContaining(`${place}: ${said}`)),
  );
  const wrongSense = `${start}    requests_per_minute: 50
    members:
      - { email: A@b, name: " ", roles: [owner] }
      - { email: a@b, name: A, roles: [owner] }
    connections:
      - { name: x, password: { env: NOT_SET } }
      - { name: x, url: "postgres://u:unspoken@h/d", every: 5s, password: { env: PIN } }
      - name: y
        url: mysql://u@h
        thresholds: { PG_DEAD_TUPLES: { warning: 1 } }
        expected_standbys: 2
        ca_file: /nowhere
        ssh: { username: u, host: h, key: { env: PIN } }
        silences: [{ check: PG_DEADLOCKS, reason: wont_fix, note: x, until: 7d }]
      - { name: z, url: postgres://u@/d?host=/run, tls: require, ssh: { username: u, host: h } }
  - { name: Broken, plan: team }
`;
  expect(await refused(wrongSense)).toEqual(
    [
      ['4:5', 'accounts[0].requests_per_minute: '],
      ['6:23', 'accounts[0].members[0].name: '],
      ['7:11', 'accounts[0].members[1].email: The list contains this twice'],
      ['9:9', 'accounts[0].connections[0].url: Give either url, or address'],
      ['9:20', 'accounts[0].connections[0].password: The environment variable NOT_SET is not set'],
      ['10:11', 'accounts[0].connections[1].name: The list contains this twice'],
      ['10:20', 'accounts[0].connections[1].url: The URL contains a password: remove it'],
      ['10:54', 'accounts[0].connections[1].every: '],
      ['10:65', 'accounts[0].connections[1].password: The secret must be a single line'],
      ['13:9', 'accounts[0].connections[2].thresholds: '],
      ['14:9', 'accounts[0].connections[2].expected_standbys: '],
      ['15:9', 'accounts[0].connections[2].ca_file: '],
      ['16:38', 'accounts[0].connections[2].ssh.key: '],
      ['17:22', 'accounts[0].connections[2].silences[0].check: This is not a check for MySQL or MariaDB'],
      ['17:70', 'accounts[0].connections[2].silences[0].until: '],
      ['18:52', 'accounts[0].connections[3].tls: A Unix socket has no TLS'],
      ['18:66', 'accounts[0].connections[3].ssh: '],
      ['19:7', 'accounts[1].name: The list contains this twice'],
    ].map(([place, said]) => expect.stringContaining(`${place}: ${said}`)),
  );
  const listed = await commandJson<{ name: string }[]>(['account', 'list']);
  expect(listed.filter(({ name }) => name === 'Broken')).toEqual([]);
});
