import { expect, inject, test } from 'vitest';
import { fillAccount, makeAccount } from './account.ts';
import { readLog } from './activity-log.ts';
import { ask, read } from './ask.ts';
import { type SignedIn, signInAs } from './browser.ts';
import { command, commandJson } from './command.ts';
import type { Connection, Failure, Fleet, List, Ticket } from './records.ts';

interface Tagged {
  id: number;
  name: string;
  tags: string[];
}

interface FleetRows {
  data: Tagged[];
  summary: { total: number };
}

const at = (account: number) => ['--account', String(account)];
const url = ['--url', 'postgres://watcher@db.example.com/shop'];
const add = (account: number, name: string, ...tags: string[]) =>
  commandJson<Connection>([
    'connection',
    'add',
    ...at(account),
    '--name',
    name,
    ...url,
    ...tags.flatMap((tag) => ['--tag', tag]),
  ]);
const tagsOf = (account: number, ...filter: string[]) =>
  commandJson<Tagged[]>(['connection', 'tags', ...at(account), ...filter.flatMap((tag) => ['--tag', tag])]);
const tag = (member: SignedIn, connections: number[], changes: { add?: string[]; remove?: string[] }) =>
  member.ask('POST', '/connections/tags', { connections, ...changes });
const namesIn = async (member: SignedIn, query: string) =>
  (await member.get<FleetRows>(`/fleet?sort=name&${query}`)).data.map(({ name }) => name);

test('commands tag connections and filter by tags, and print what endpoint 1 shows', async () => {
  const { id: account, key } = await makeAccount();
  const shop = await add(account, 'shop', 'ENV:Production', 'pci', 'team:shop');
  const crm = await add(account, 'crm', 'env:staging');
  await add(account, 'bare');
  const { data } = await read<List<Connection>>('/api/v1/health/connections', key);
  expect(await commandJson(['connection', 'list', ...at(account)])).toEqual(data);
  expect(Object.keys(shop)).toEqual(Object.keys(data[0] ?? {}));
  expect(await tagsOf(account)).toEqual([
    { id: shop.id, name: 'shop', tags: ['env:production', 'pci', 'team:shop'] },
    { id: crm.id, name: 'crm', tags: ['env:staging'] },
    { id: expect.any(Number), name: 'bare', tags: [] },
  ]);
  const changed = await commandJson<Connection>([
    'connection',
    'change',
    String(shop.id),
    '--tag',
    'env:test',
    '--untag',
    'pci',
    '--untag',
    'none',
  ]);
  expect(changed).toEqual(data[0]);
  expect(await tagsOf(account, 'env:test', 'env:staging')).toEqual([
    { id: shop.id, name: 'shop', tags: ['env:test', 'team:shop'] },
    { id: crm.id, name: 'crm', tags: ['env:staging'] },
  ]);
  expect(
    (await commandJson<Connection[]>(['connection', 'list', ...at(account), '--tag', 'team:shop'])).map(
      ({ name }) => name,
    ),
  ).toEqual(['shop']);
  const servers = (...filter: string[]) =>
    commandJson<Connection[]>(['connection', 'list', ...at(account), ...filter]);
  expect(await servers('--engine', 'postgres')).toHaveLength(3);
  expect(await servers('--engine', 'mysql')).toEqual([]);
  expect(await servers('--version', '18')).toEqual([]); // no run has measured it
  // One change: the name and the tags, or neither.
  await commandJson(['connection', 'change', String(crm.id), '--name', 'sales', '--tag', 'pci']);
  const log = await readLog(key);
  expect(log.filter(({ action_type }) => action_type.startsWith('connection_')).slice(-2)).toMatchObject([
    { action_type: 'connection_changed', properties: { name: 'sales' } },
    {
      action_type: 'connection_tagged',
      properties: { connection_id: crm.id, name: 'sales', added: ['pci'], removed: [] },
    },
  ]);
});

test.each([
  [
    ['add', '--account', '1', '--name', 'x', ...url, '--tag', 'two words'],
    /^error: A tag is a label \(pci\)/,
  ],
  [['list', '--account', '1', '--tag', 'env:'], /^error: A tag is a label \(pci\)/],
  [
    ['add', '--account', '1', '--name', 'x', ...url, '--tag', 'env:a', '--tag', 'env:b'],
    /^error: A connection has one environment: give one tag that begins with env:\.\n$/,
  ],
  [['change', '1'], /^error: Give at least one option to change: see --help\.\n$/],
])('connection %j is refused with a sentence', async (args, sentence) => {
  const { exit, stderr } = await command(['connection', ...args]);
  expect([exit, stderr]).toEqual([2, expect.stringMatching(sentence)]);
});

test('tagging leaves the answers of the API as they are, byte for byte, and cached', async () => {
  const { id: account, key } = await makeAccount();
  const { id } = await add(account, 'shop');
  const operator = await signInAs(account, ['operator']);
  const paths = [
    '/api/v1/health/connections',
    '/api/v1/health/fleet',
    `/api/v1/ops/tickets?connection_id=${id}`,
  ];
  const texts = () => Promise.all(paths.map(async (path) => (await ask(path, { key })).text));
  const etags = () => Promise.all(paths.map(async (path) => (await ask(path, { key })).headers['etag']));
  const [before, tagsBefore] = [await texts(), await etags()];
  expect((await tag(operator, [id], { add: ['env:production', 'pci'] })).status).toBe(200);
  expect(await texts()).toEqual(before);
  expect(await etags()).toEqual(tagsBefore);
  expect(await read<Fleet>('/api/v1/health/fleet', key)).not.toMatchObject({ data: [{ tags: [] }] });
});

test('the console tags in bulk, and filters the fleet by tags and engine', async () => {
  const { id: account, key } = await makeAccount();
  const ids: number[] = [];
  for (const name of ['a', 'b', 'third']) ids.push((await add(account, name)).id);
  const [a = 0, b = 0, c = 0] = ids;
  const [operator, viewer] = [await signInAs(account, ['operator']), await signInAs(account, ['viewer'])];
  const answer = await tag(operator, [a, b], { add: [' Team:Shop', 'pci'] });
  const added = ['pci', 'team:shop'];
  expect(answer.json()).toEqual({ data: [a, b].map((id) => ({ id, tags: added, added, removed: [] })) });
  await tag(operator, [b, c], { add: ['team:crm'], remove: ['team:shop'] });
  expect(await viewer.get('/tags')).toEqual({
    data: [
      { tag: 'pci', connections: 2 },
      { tag: 'team:crm', connections: 2 },
      { tag: 'team:shop', connections: 1 },
    ],
  });
  expect(await namesIn(viewer, 'tags=pci')).toEqual(['a', 'b']);
  expect(await namesIn(viewer, 'tags=team:crm,team:shop')).toEqual(['a', 'b', 'third']);
  expect(await namesIn(viewer, 'tags=team:crm,pci')).toEqual(['b']);
  expect(await namesIn(viewer, 'tags=TEAM:CRM&q=third')).toEqual(['third']);
  expect(await namesIn(viewer, 'tags=none')).toEqual([]);
  expect(await namesIn(viewer, 'engine=postgres&tags=pci')).toEqual(['a', 'b']);
  expect(await namesIn(viewer, 'engine=mysql')).toEqual([]);
  expect(await viewer.get<FleetRows>('/fleet?tags=pci')).toMatchObject({ summary: { total: 2 } });
  expect(await viewer.get(`/connections/${b}`)).toMatchObject({ settings: { tags: ['pci', 'team:crm'] } });
  const entries = (await readLog(key)).filter(({ action_type }) => action_type === 'connection_tagged');
  expect(entries.map(({ properties }) => [properties['connection_id'], properties['actor_name']])).toEqual(
    [a, b, b, c].map((id) => [id, expect.any(String)]),
  );
});

test('the fleet says which connections are in a maintenance window, also by tag', async () => {
  const { id: account } = await makeAccount();
  const [staging, live] = [await add(account, 'a', 'env:staging'), await add(account, 'b', 'env:production')];
  const operator = await signInAs(account, ['operator']);
  await operator.change('POST', '/maintenance', {
    name: 'Disks',
    connections: { ids: null, names: ['tag:env:staging'] },
    ends_at: new Date(Date.now() + 3_600_000).toISOString(),
  });
  const { data } = await operator.get<{ data: { id: number; in_maintenance: boolean }[] }>(
    '/fleet?sort=name',
  );
  expect(data.map(({ id, in_maintenance }) => [id, in_maintenance])).toEqual([
    [staging.id, true],
    [live.id, false],
  ]);
  expect(await operator.get(`/connections/${staging.id}/watch`)).toMatchObject({
    maintenance: { name: 'Disks' },
  });
  expect(await operator.get(`/connections/${live.id}/watch`)).toMatchObject({ maintenance: null });
});

test('the fleet by check: the connections with open tickets of it, and nobody else’s', async () => {
  const [{ id: account, key }, { id: other }] = [await makeAccount(), await makeAccount()];
  await fillAccount(account, { connections: 8, tickets: 120, activity: 200, days: 5 });
  const [viewer, stranger] = [await signInAs(account, ['viewer']), await signInAs(other, ['viewer'])];
  const open: { check_id: string; connection_id: number }[] = [];
  for (let page = 1; open.length === (page - 1) * 100; page += 1)
    open.push(
      ...(await read<List<Ticket>>(`/api/v1/ops/tickets?status=open&per_page=100&page=${page}`, key)).data,
    );
  const byCheck = Map.groupBy(open, ({ check_id }) => check_id);
  const { data: checks } = await viewer.get<{ data: { check_id: string; connections: number }[] }>(
    '/fleet/checks',
  );
  expect(new Map(checks.map(({ check_id, connections }) => [check_id, connections]))).toEqual(
    new Map([...byCheck].map(([id, tickets]) => [id, new Set(tickets.map((one) => one.connection_id)).size])),
  );
  for (const [check, tickets] of [...byCheck].slice(0, 5)) {
    const { data } = await viewer.get<{
      data: { id: number; open_tickets: number; worst: { check_id: string } }[];
    }>(`/fleet?check=${check}`);
    const counts = Map.groupBy(tickets, ({ connection_id }) => connection_id);
    expect(new Map(data.map((row) => [row.id, row.open_tickets]))).toEqual(
      new Map([...counts].map(([id, own]) => [id, own.length])),
    );
    expect(data.every(({ worst }) => worst.check_id === check)).toBe(true);
  }
  expect(await stranger.get('/fleet/checks')).toEqual({ data: [] });
  expect(await namesIn(viewer, 'check=PG_NO_SUCH_CHECK')).toEqual([]);
  for (const query of ['check=x%27--', `tags=${'a'.repeat(2_001)}`, 'engine=oracle'])
    expect((await viewer.ask('GET', `/fleet?${query}`)).status).toBe(400);
});

test('without permission, or for connections of another account, nothing is tagged', async () => {
  const { id: account } = await makeAccount();
  const { id: other } = await makeAccount();
  const [own, theirs] = [await add(account, 'own'), await add(other, 'theirs', 'secret')];
  const owner = await signInAs(account, ['owner']);
  for (const role of ['viewer', 'auditor'] as const) {
    const member = await signInAs(account, [role]);
    expect((await tag(member, [own.id], { add: ['x'] })).status).toBe(403);
  }
  expect((await tag(owner, [own.id, theirs.id], { add: ['x'] })).status).toBe(404);
  expect(await tagsOf(account)).toMatchObject([{ tags: [] }]);
  expect(await tagsOf(other)).toMatchObject([{ tags: ['secret'] }]);
  expect(await owner.get('/tags')).toEqual({ data: [] });
  expect(await namesIn(owner, 'tags=secret')).toEqual([]);
});

test('a bad change of tags gets a sentence', async () => {
  const { id: account } = await makeAccount();
  const { id } = await add(account, 'shop');
  const owner = await signInAs(account, ['owner']);
  const refused = async (body: object) => {
    const answer = await owner.ask('POST', '/connections/tags', body);
    return [answer.status, answer.json<Failure>().error.message];
  };
  const isNoTag = [400, expect.stringMatching(/^A tag is a label \(pci\) or a key and a value/)];
  for (const text of [
    '',
    'a b',
    '<img src=x onerror=alert(1)>',
    'a,b',
    'x\u202ey',
    "'; drop table x; --",
    '*',
  ])
    expect(await refused({ connections: [id], add: [text] })).toEqual(isNoTag);
  expect(await refused({ connections: [id] })).toEqual([400, 'Send at least one tag to add or to remove.']);
  const ids = [400, 'Send the ids of 1 to 1000 connections, each once.'];
  expect(await refused({ connections: [], add: ['x'] })).toEqual(ids);
  expect(await refused({ connections: [id, id], add: ['x'] })).toEqual(ids);
  expect(
    await refused({ connections: Array.from({ length: 1_001 }, (_, at) => at + 1), add: ['x'] }),
  ).toEqual(ids);
  const many = Array.from({ length: 21 }, (_, at) => `t${at}`);
  expect(await refused({ connections: [id], add: many })).toEqual([
    400,
    'A connection has at most 20 tags: remove some.',
  ]);
  expect(await refused({ connections: [id], add: Array.from({ length: 101 }, (_, at) => `t${at}`) })).toEqual(
    [400, 'Send at most 100 tags, each at most 400 characters.'],
  );
});

test('apply sets the tags of a file, leaves others alone, and plans what it does', async () => {
  const name = `Tagged ${Date.now()}`;
  const apply = async (lines: string, ...options: string[]) =>
    commandJson<{ accounts: { id: number }[]; changes: object[] }>(['apply', '-f', '-', ...options], {
      environment: inject('environment'),
      input: `
accounts:
  - name: ${name}
    plan: enterprise
    connections:
      - { name: shop, url: 'postgres://watcher@db.example.com/shop'${lines} }`,
    });
  const made = await apply(', tags: [Team:Shop, env:production]');
  expect(made.changes).toMatchObject([
    { action: 'add', what: 'account' },
    { action: 'add', what: 'connection', changed: ['host', 'port', 'tags'] },
  ]);
  const account = made.accounts[0]?.id ?? 0;
  expect(await tagsOf(account)).toMatchObject([{ tags: ['env:production', 'team:shop'] }]);
  expect((await apply('')).changes).toEqual([]);
  expect((await apply(', tags: [env:production, team:shop, TEAM:SHOP]')).changes).toEqual([]);
  const change = {
    action: 'change',
    what: 'connection',
    account: name,
    name: 'shop',
    changed: ['tags'],
    from: { tags: ['env:production', 'team:shop'] },
    to: { tags: ['env:test'] },
  };
  expect((await apply(', tags: [env:test]', '--plan')).changes).toEqual([change]);
  expect((await apply(', tags: [env:test]')).changes).toEqual([change]);
  expect(await tagsOf(account)).toMatchObject([{ tags: ['env:test'] }]);
  expect((await apply(', tags: [], every: 10m')).changes).toMatchObject([{ changed: ['every', 'tags'] }]);
  expect(await tagsOf(account)).toMatchObject([{ tags: [] }]);
  for (const [tags, sentence] of [
    ['[two words]', 'A tag is a label'],
    ['[env:a, env:b]', 'A connection has one environment'],
    ['[1.5, x]', 'tags'],
  ])
    await expect(apply(`, tags: ${tags}`)).rejects.toThrow(sentence);
});
