import { expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { readLog } from './activity-log.ts';
import { ask, each, read } from './ask.ts';
import { command, commandJson, FULL_DEVICE, intoFullDevice } from './command.ts';
import {
  type Connection,
  type Entry,
  type Finding,
  type HealthCheck,
  integer,
  type List,
  time,
} from './records.ts';

const account = makeAccount();

interface KeyRow {
  id: number;
  name: string;
  last_four: string;
  expires_at: string | null;
}

test('account: create, list, change', async () => {
  const made = await commandJson<{ id: number }>([
    'account',
    'create',
    '--name',
    'Acme',
    '--plan',
    'business',
  ]);
  expect(made).toEqual({
    id: integer,
    name: 'Acme',
    kind: 'company',
    plan: 'business',
    requests_per_minute: null,
    created_at: time,
  });
  const id = String(made.id);
  const options = ['--name', 'Acme Ltd', '--plan', 'enterprise', '--requests-per-minute', '250'];
  const changed = await commandJson(['account', 'change', id, ...options]);
  expect(changed).toEqual({ ...made, name: 'Acme Ltd', plan: 'enterprise', requests_per_minute: 250 });
  expect(await commandJson(['account', 'list'])).toContainEqual(changed);
  const human = await command(['account', 'list']);
  expect(human.exit).toBe(0);
  expect(human.stdout).toContain('Acme Ltd');
});

test('key: create shows the key, list and revoke never do', async () => {
  const { id } = await account;
  const of = ['--account', String(id)];
  const made = await commandJson<KeyRow & { key: string }>([
    'key',
    'create',
    ...of,
    '--name',
    'collector',
    '--expires-in',
    '90d',
  ]);
  expect(made).toMatchObject({
    id: integer,
    name: 'collector',
    key: expect.stringMatching(/^dbv_live_\w{49}$/),
  });
  const listed = (await commandJson<KeyRow[]>(['key', 'list', ...of])).find((key) => key.id === made.id);
  expect(listed).toMatchObject({
    id: made.id,
    name: 'collector',
    last_four: made.key.slice(-4),
    created_at: time,
  });
  expect(Math.abs(Date.parse(listed?.expires_at ?? '') - Date.now() - 90 * 86_400_000)).toBeLessThan(120_000);
  const revoked = await command(['key', 'revoke', String(made.id), '--json']);
  const human = await command(['key', 'list', ...of]);
  expect(JSON.parse(revoked.stdout)).toMatchObject({ id: made.id, revoked_at: time });
  for (const text of [JSON.stringify(listed), revoked.stdout, human.stdout])
    expect(text).not.toContain(made.key);
});

test('connection: add, list, change, remove; the password from standard input', async () => {
  const { id, key } = await account;
  const of = ['--account', String(id)];
  const add = [
    'connection',
    'add',
    ...of,
    '--name',
    'shop',
    '--url',
    'postgres://watcher@db.example.com/shop',
  ];
  const made = await commandJson<Connection>([...add, '--password-stdin'], { input: 'unspoken\n' });
  const { data } = await read<List<Connection>>('/api/v1/health/connections', key);
  expect(data).toContainEqual(made);
  expect(await commandJson(['connection', 'list', ...of])).toEqual(data);
  const change = [
    'connection',
    'change',
    String(made.id),
    '--url',
    'postgres://watcher@other.example.com:6543/shop',
  ];
  expect(await commandJson([...change, '--password-stdin'], { input: 'unspoken\n' })).toMatchObject({
    id: made.id,
    host: 'other.example.com',
    port: 6543,
  });
  await commandJson(['connection', 'remove', String(made.id)]);
  expect(await commandJson<Connection[]>(['connection', 'list', ...of])).not.toContainEqual(
    expect.objectContaining({ id: made.id }),
  );
});

test('check run prints findings worst first, and exits with 0 when the database is down', async () => {
  const { id } = await account;
  const of = ['--account', String(id)];
  const url = inject('sharedStore')['DATABASE_URL'] ?? '';
  const store = await commandJson<Connection>([
    'connection',
    'add',
    ...of,
    '--name',
    'store',
    '--url',
    url,
    '--tls',
    'disable',
  ]);
  const { checks, score } = await commandJson<HealthCheck>([
    'check',
    'run',
    '--connection',
    String(store.id),
  ]);
  expect(score).toBeGreaterThan(0);
  const human = await command(['check', 'run', '--connection', String(store.id)]);
  expect(human.exit).toBe(0);
  const titles = checks.map(({ title }: Finding) => title);
  expect(human.stdout).toContain(titles[0]);
  expect(human.stdout).toContain(titles.at(-1));
  const down = await commandJson<Connection>([
    'connection',
    'add',
    ...of,
    '--name',
    'down',
    '--url',
    'postgres://watcher@127.0.0.1:1/shop',
  ]);
  const failed = await command(['check', 'run', '--connection', String(down.id)]);
  expect(failed.exit).toBe(0);
  expect(failed.stdout).toMatch(/unreachable/i);
});

test('activity tail prints the log, one JSON object per line', async () => {
  const { id, key } = await makeAccount();
  await each(Array.from({ length: 30 }), 8, () => ask('/api/v1/health/fleet', { key }));
  const log = await readLog(key);
  const lines = async (...options: string[]) => {
    const { exit, stdout } = await command(['activity', 'tail', '--account', String(id), ...options]);
    expect(exit).toBe(0);
    return stdout
      .trim()
      .split('\n')
      .map((line): Entry => JSON.parse(line));
  };
  expect((await lines('--after-id', '0', '--json')).slice(0, log.length)).toEqual(log);
  expect((await lines('--after-id', '25'))[0]).toEqual(log[25]);
  expect((await lines()).map((entry) => entry.id)).toHaveLength(20);
});

test('sample-data writes the given amounts, and the same data for the same seed', async () => {
  const counts = [
    '--connections',
    '5',
    '--tickets',
    '40',
    '--activity',
    '300',
    '--days',
    '7',
    '--seed',
    '11',
  ];
  const make = async () => {
    const { id } = await commandJson<{ id: number }>([
      'account',
      'create',
      '--name',
      'Sample',
      '--plan',
      'enterprise',
    ]);
    const made = await commandJson(['sample-data', '--account', String(id), ...counts]);
    const { key } = await commandJson<{ key: string }>([
      'key',
      'create',
      '--account',
      String(id),
      '--name',
      'suite',
    ]);
    const { data } = await read<List<Connection>>('/api/v1/health/connections', key);
    return {
      made,
      shown: data.map(({ name, host, score }) => ({ name, host, score })),
      log: await readLog(key),
    };
  };
  const [one, two] = await Promise.all([make(), make()]);
  expect(one.made).toMatchObject({ connections: 5, tickets: 40, activity: 300 });
  expect(one.shown).toEqual(two.shown);
  expect(one.log.map(({ id }) => id)).toEqual(one.log.map((_, at) => at + 1));
  expect(one.log.length).toBeGreaterThanOrEqual(300);
  const kinds = (log: Entry[]) =>
    log.slice(0, 300).map(({ action_type, page_path }) => [action_type, page_path.replace(/\d+/g, 'N')]);
  expect(kinds(one.log)).toEqual(kinds(two.log));
});

test('sample data for an account in use is written after its last entry', async () => {
  const { id, key } = await makeAccount();
  await ask('/api/v1/health/fleet', { key });
  const before = await readLog(key);
  await commandJson(['sample-data', '--account', String(id), '--activity', '50', '--days', '3']);
  const log = await readLog(key);
  expect(log.slice(0, before.length)).toEqual(before);
  expect(log.map((entry) => entry.id)).toEqual(log.map((_, at) => at + 1));
  const times = log.map(({ occurred_at }) => occurred_at);
  expect(times).toEqual(times.toSorted());
  expect(log.length).toBeGreaterThanOrEqual(before.length + 50);
});

test('migrate on a store that is up to date applies nothing', async () => {
  expect(await commandJson(['migrate', '--plan'])).toEqual({ pending: [] });
  expect(await commandJson(['migrate'])).toEqual({ applied: [] });
});

test('--help everywhere, with a line for each option', async () => {
  const commands = [
    [],
    ['serve'],
    ['monitor'],
    ['migrate'],
    ['backup'],
    ['restore'],
    ['account'],
    ['account', 'create'],
    ['account', 'list'],
    ['account', 'change'],
    ['key', 'create'],
    ['key', 'list'],
    ['key', 'revoke'],
    ['key', 'regenerate'],
    ['check', 'run'],
    ['check', 'explain'],
    ['check', 'try'],
    ['check', 'own', 'set'],
    ['check', 'own', 'list'],
    ['check', 'own', 'remove'],
    ['silence', 'add'],
    ['silence', 'list'],
    ['silence', 'end'],
    ['activity', 'tail'],
    ['apply'],
    ['exporter'],
    ['connection', 'add'],
    ['connection', 'list'],
    ['connection', 'change'],
    ['connection', 'remove'],
    ['sample-data'],
    ['member', 'add'],
    ['member', 'list'],
    ['member', 'change'],
    ['member', 'remove'],
  ];
  await each(commands, 3, async (words) => {
    const { exit, stdout, stderr } = await command([...words, '--help']);
    expect(exit, words.join(' ')).toBe(0);
    expect(stdout).toMatch(/^Usage: dbvitals/);
    expect(stderr).toBe('');
  });
});

test('--help groups the commands', async () => {
  const { stdout } = await command(['--help']);
  const groups = stdout
    .split('\n\n')
    .map((part) => part.split('\n'))
    .filter(([heading = '']) => /^[A-Z][\w ]+:$/.test(heading))
    .map(([heading, ...lines]) => [heading, lines.flatMap((line) => /^ {2}([a-z-]+)/.exec(line)?.[1] ?? [])]);
  expect(groups).toEqual([
    ['Options:', expect.anything()],
    ['Serve:', ['serve', 'monitor', 'collect']],
    [
      'Watch:',
      ['connection', 'collector', 'check', 'measures', 'queries', 'episodes', 'load', 'top', 'changes'],
    ],
    [
      'Tickets and notifications:',
      ['ticket', 'alert', 'threshold', 'silence', 'destination', 'maintenance', 'digest'],
    ],
    ['Accounts:', ['account', 'key', 'member', 'activity', 'apply']],
    ['Store:', ['migrate', 'doctor', 'backup', 'restore', 'secret']],
    ['Tools:', ['exporter', 'mcp', 'webhook', 'completion', 'sample-data', 'help']],
  ]);
});

test('writing a list to a full device gives one sentence and exit code 1', () => {
  expect(intoFullDevice(['account', 'list'], inject('environment'))).toEqual(FULL_DEVICE);
});
