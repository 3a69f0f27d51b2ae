import { expect, inject, test } from 'vitest';
import { type Account, fillAccount, makeAccount, makeKey, makeKeylessAccount } from './account.ts';
import { ask, links, read } from './ask.ts';
import { fixtureJson } from './fixture-command.ts';
import { type Connection, integer, type List, time } from './records.ts';

const PATH = '/api/v1/health/connections';

const empty = makeAccount();
const small = makeAccount();
const large = makeLarge();

async function makeLarge(): Promise<Account & { connections: Connection[] }> {
  const id = await makeKeylessAccount();
  await fillAccount(id, { connections: 130, days: 2, tickets: 10, activity: 10 });
  const { key, id: keyId } = await makeKey(id, 'suite');
  const connections: Connection[] = [];
  for (const page of [1, 2]) {
    connections.push(...(await read<List<Connection>>(`${PATH}?per_page=100&page=${page}`, key)).data);
  }
  return { id, key, keyId, connections };
}

function add(account: Account, name: string, url: string, ...options: string[]): Promise<Connection> {
  return fixtureJson([
    'connection',
    'add',
    '--account',
    String(account.id),
    '--name',
    name,
    '--url',
    url,
    ...options,
  ]);
}

test('200: an account without connections has an empty list', async () => {
  expect(await read(PATH, (await empty).key)).toEqual({
    data: [],
    meta: { total: 0, page: 1, per_page: 50, has_more: false },
  });
});

test('200: a connection that was never checked has null in the fields of a check', async () => {
  const account = await small;
  const direct = await add(account, 'shop', 'postgres://watcher:unspoken@db.example.com:6432/shop');
  const socket = await add(account, 'local', 'postgres://watcher@/shop?host=/var/run/postgresql');
  const { data } = await read<List<Connection>>(PATH, account.key);
  const never = { latest_check_id: null, score: null, last_checked_at: null, summary_text: null };
  expect(data).toEqual([
    { id: direct.id, name: 'shop', host: 'db.example.com', port: 6432, connection_type: 'direct', ...never },
    {
      id: socket.id,
      name: 'local',
      host: '/var/run/postgresql',
      port: 5432,
      connection_type: 'unix_socket',
      ...never,
    },
  ]);
  expect(data).toEqual([direct, socket]);
  expect(JSON.stringify(data)).not.toContain('unspoken');
});

test('200: a removed connection is not listed', async () => {
  const account = await small;
  const { id } = await add(account, 'gone', 'postgres://watcher@old.example.com/shop');
  const before = await read<List<Connection>>(PATH, account.key);
  await fixtureJson(['connection', 'remove', String(id)]);
  const after = await read<List<Connection>>(PATH, account.key);
  expect(before.data.map((connection) => connection.id)).toContain(id);
  expect(after.data.map((connection) => connection.id)).not.toContain(id);
  expect(after.meta.total).toBe(before.meta.total - 1);
});

test('200: a changed connection shows its new settings', async () => {
  const account = await small;
  const { id } = await add(account, 'before', 'postgres://watcher@a.example.com/shop');
  await fixtureJson(['connection', 'change', String(id), '--name', 'after']);
  const { data } = await read<List<Connection>>(PATH, account.key);
  expect(data.find((connection) => connection.id === id)?.name).toBe('after');
});

test('200: the first start adds a connection to its own store', async () => {
  const [, key = ''] = /API key +(dbv_live_\w+)/.exec(inject('firstOutput')) ?? [];
  const { data } = await read<List<Connection>>(PATH, key);
  expect(data).toEqual([
    {
      id: integer,
      name: 'dbvitals store',
      host: expect.any(String),
      port: integer,
      connection_type: expect.stringMatching(/^(direct|unix_socket)$/),
      latest_check_id: integer,
      score: integer,
      last_checked_at: time,
      summary_text: expect.any(String),
    },
  ]);
});

test('200: every connection has its latest score, an integer from 0 to 100', async () => {
  const { connections } = await large;
  for (const { score, latest_check_id } of connections) {
    expect(score === null).toBe(latest_check_id === null);
    if (score !== null)
      expect(score).toSatisfy((value: number) => Number.isInteger(value) && value >= 0 && value <= 100);
  }
});

test('200: connections are ordered by id, 50 per page by default', async () => {
  const { key, connections } = await large;
  const ids = connections.map(({ id }) => id);
  expect(ids).toHaveLength(130);
  expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  const first = await read<List<Connection>>(PATH, key);
  expect(first.data).toEqual(connections.slice(0, 50));
  expect(first.meta).toEqual({ total: 130, page: 1, per_page: 50, has_more: true });
});

test.each([
  [1, 100, true],
  [2, 100, false],
  [1, 1, true],
  [130, 1, false],
  [13, 10, false],
  [12, 10, true],
  [3, 50, false],
])('200: page %d of %d a page', async (page, perPage, hasMore) => {
  const { key, connections } = await large;
  const { data, meta } = await read<List<Connection>>(`${PATH}?page=${page}&per_page=${perPage}`, key);
  expect(data).toEqual(connections.slice((page - 1) * perPage, page * perPage));
  expect(meta).toEqual({ total: 130, page, per_page: perPage, has_more: hasMore });
});

test.each([4, 1_000_000, 9_007_199_254_740_991])('200: page %d is past the end', async (page) => {
  const { key } = await large;
  expect(await read(`${PATH}?page=${page}`, key)).toEqual({
    data: [],
    meta: { total: 130, page, per_page: 50, has_more: false },
  });
});

test('200: the Link header goes through every page and back', async () => {
  const { key, connections } = await large;
  const seen: number[] = [];
  let path: string | undefined = `${PATH}?per_page=30`;
  let last: string | undefined;
  while (path !== undefined) {
    const answer = await ask(path, { key });
    const page = answer.json<List<Connection>>();
    seen.push(...page.data.map(({ id }) => id));
    const relations = links(answer);
    expect('next' in relations).toBe(page.meta.has_more);
    expect('prev' in relations).toBe(page.meta.page > 1);
    expect((await read<List<Connection>>(relations['first'] ?? '', key)).meta.page).toBe(1);
    last = relations['last'];
    path = relations['next'];
  }
  expect(seen).toEqual(connections.map(({ id }) => id));
  expect((await read<List<Connection>>(last ?? '', key)).meta).toMatchObject({ page: 5, has_more: false });
});

test('200: past the end, prev is the last page', async () => {
  const { key } = await large;
  const { prev = '' } = links(await ask(`${PATH}?page=99`, { key }));
  expect((await read<List<Connection>>(prev, key)).meta).toMatchObject({ page: 3, has_more: false });
});
