import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { addTickets } from '../../tickets/triage/many-tickets-fixture.ts';
import { TICKET_GROUPS, TICKET_LISTS, TICKET_SORTS } from '../../vocabulary/ticket-lists.ts';
import { type Owner, openTestConsole, type TestConsole } from '../console-fixture.ts';
import { costOf, type TicketIds, type TicketPage, type TicketRow } from './ticket-list.ts';

let store: TestStore;
let console: TestConsole;
let ada: Owner;
let ids: number[];
const COUNT = 250;

beforeAll(async () => {
  store = await startTestStore();
  console = await openTestConsole(store);
  ada = await console.owner();
  const connections = [
    await store.connection(ada.accountId, { name: 'orders' }),
    await store.connection(ada.accountId, { name: 'Billing 100%' }),
  ];
  ids = await addTickets(store, ada.accountId, { connections, count: COUNT, resolvedTenths: 2 });
  const other = await console.owner();
  await addTickets(store, other.accountId, {
    connections: [await store.connection(other.accountId)],
    count: 30,
  });
});

// Together they would spend the budget of one session.
beforeEach(async ({ task }) => {
  ada = await console.member(ada.accountId, `Ada ${task.id}`, 'owner');
});

afterAll(async () => {
  await console.close();
  await store.stop();
});

const list = (query: string, of = ada) => of.read<TicketPage>(`/tickets?${query}`);

/** All pages of a list. */
async function whole(query: string): Promise<TicketRow[]> {
  const rows: TicketRow[] = [];
  for (let page: number | null = 1; page !== null; ) {
    const { data, next }: TicketPage = await list(`${query}&page=${page}`);
    rows.push(...data);
    page = next;
  }
  return rows;
}

const KEYS: Record<string, (row: TicketRow) => string | number> = {
  first_seen: (row) => Date.parse(row.first_seen_at),
  last_seen: (row) => Date.parse(row.last_seen_at),
  severity: (row) => ['critical', 'warning', 'info'].indexOf(row.severity),
  title: (row) => row.title.toLowerCase(),
  connection: (row) => row.connection_name.toLowerCase(),
  assignee: () => 0,
};

describe('every order has each ticket once, sorted, within its group', () => {
  test.each(Object.entries(TICKET_SORTS))('%s', async (sort, usual) => {
    for (const reverse of ['', '&reverse=1']) {
      const rows = await whole(`list=all&sort=${sort}${reverse}`);
      expect(rows.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(ids);
      const keys = rows.map((row) => KEYS[sort]?.(row) ?? '');
      const up = (usual === 'asc') !== (reverse !== '');
      const sorted = keys.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0) * (up ? 1 : -1));
      expect(keys).toEqual(sorted);
    }
  });

  test.each(TICKET_GROUPS)('grouped by %s', async (group) => {
    const rows = await whole(`list=all&group=${group}&sort=title`);
    expect(rows).toHaveLength(COUNT);
    const keys = rows.map((row) => JSON.stringify(row.group));
    const blocks = keys.filter((key, at) => key !== keys[at - 1]);
    expect(blocks).toEqual([...new Set(keys)]);
    for (const key of blocks) {
      const size = keys.filter((other) => other === key).length;
      expect(JSON.parse(key)).toMatchObject({ size });
    }
  });
});

test('groups have names that members know, and the worst and largest come first', async () => {
  const [first] = (await list('list=all&group=check')).data;
  expect(first?.group).toMatchObject({
    key: expect.stringMatching(/^PG_/),
    label: expect.stringMatching(/ /),
  });
  const severities = (await whole('list=all&group=severity')).map(({ severity }) => severity);
  expect([...new Set(severities)]).toEqual(['critical', 'warning', 'info']);
  const { data } = await list('group=assignee');
  expect(data[0]?.group).toEqual({ key: null, label: null, size: 200 });
});

test('a ticket is in the group of all tags of its connection', async () => {
  const [{ connection_id: tagged = 0 } = {}] = (await list('list=all&q=orders')).data;
  await store.writer.query('insert into connection_tags values ($1, $2, $3)', [
    ada.accountId,
    tagged,
    ['env:production', 'pci'],
  ]);
  const rows = await whole('list=all&group=tags');
  const labels = rows.map(({ connection_name, group }) => [connection_name, group?.label]);
  expect(new Set(labels.map((pair) => JSON.stringify(pair)))).toEqual(
    new Set([JSON.stringify(['orders', 'env:production, pci']), JSON.stringify(['Billing 100%', null])]),
  );
});

test('the lists partition the tickets', async () => {
  const counts = await Promise.all(
    Object.keys(TICKET_LISTS).map(async (name) => [name, (await list(`list=${name}`)).total] as const),
  );
  expect(Object.fromEntries(counts)).toEqual({
    open: 200,
    new: 200,
    acknowledged: 0,
    snoozed: 0,
    silenced: 0,
    resolved: 50,
    all: COUNT,
  });
});

describe('search', () => {
  test.each([
    ['title, in any case', 'FOREIGN key', (row: TicketRow) => row.check_id === 'PG_FK_UNINDEXED'],
    ['object', 'table_17', (row: TicketRow) => row.object?.includes('table_17') === true],
    ['measured text', 'Read 42 times', (row: TicketRow) => row.metric_line.includes('42 times')],
    ['connection', 'orders', (row: TicketRow) => row.connection_name === 'orders'],
    [
      'each word anywhere',
      'unused billing',
      (row: TicketRow) => row.connection_name !== 'orders' && row.title === 'Unused index',
    ],
    ['% and _ as they are', '50%', () => true],
    ['% and _ as they are', '5%0', () => false],
    ['% and _ as they are', 'public_table', () => false],
    ['a quote and a backslash', `'\\`, () => false],
    ['only blanks', '   ', () => true],
  ])('%s: %s', async (_, q, expected) => {
    const all = await whole('list=all');
    const found = await whole(`list=all&q=${encodeURIComponent(q)}`);
    expect(found.map(({ id }) => id)).toEqual(all.filter(expected).map(({ id }) => id));
  });
});

test('filters by severity, connection and days', async () => {
  const [{ connection_id: connection = 0 } = {}] = (await list('list=all')).data;
  const all = await whole('list=all');
  for (const [query, expected] of [
    ['severity=info', (row: TicketRow) => row.severity === 'info'],
    [`connection_id=${connection}`, (row: TicketRow) => row.connection_id === connection],
    ['from=2026-01-01T01:00:00Z', (row: TicketRow) => row.first_seen_at >= '2026-01-01T01:00:00.000Z'],
    ['to=2026-01-01T01:00:00Z', (row: TicketRow) => row.first_seen_at <= '2026-01-01T01:00:00.999Z'],
    ['from=2026-01-02', () => false],
    ['connection_id=9007199254740991', () => false],
    ['assignee=nobody', () => true],
    ['assignee=me', () => false],
  ] as const) {
    const rows = await whole(`list=all&${query}`);
    expect(
      rows.map(({ id }) => id),
      query,
    ).toEqual(all.filter(expected).map(({ id }) => id));
  }
});

test('what a choice covers is listed by id for bulk actions', async () => {
  const { data, total } = await ada.read<TicketIds>('/tickets/ids?list=resolved&q=unused');
  const rows = await whole('list=resolved&q=unused');
  expect(data).toEqual(rows.map(({ id, version }) => ({ id, version })));
  expect(total).toBe(rows.length);
});

test.each([
  ['sort=price'],
  ['sort=first_seen;drop table ticket'],
  ['sort=constructor'],
  ['group=__proto__'],
  ['list=toString'],
  ['reverse=yes'],
  ['assignee=0'],
  ['assignee=me,nobody'],
  [`q=${'x'.repeat(201)}`],
  ['q=%00'],
  ['page=1001'],
  ['from=tomorrow'],
  ['group=check&group=state'],
])('400: %s', async (query) => {
  expect((await ada.refused(`/tickets?${query}`)).slice(0, 2)).toEqual([400, 'invalid_parameter']);
});

test('a page past the end is empty', async () => {
  expect(await list('list=all&page=1000')).toEqual({ data: [], total: 0, next: null, limited: false });
});

test('a search among more tickets than are looked at says so, also if it finds nothing', async () => {
  const many = await console.owner();
  const added: number[] = [];
  const root = await store.superuser('store');
  for (let n = 0; n < 26; n += 1) {
    // The plans of triggers are for as many tickets as the statistics know.
    if (n === 1) await root.query('analyze');
    const connections = [await store.connection(many.accountId)];
    added.push(...(await addTickets(store, many.accountId, { connections, count: 2_000 })));
  }
  const [oldest] = added;
  await store.writer.query('update ticket set title = $2 where ticket_id = $1', [oldest, 'Lost long ago']);
  expect(await list('list=all&q=lost', many)).toEqual({ data: [], total: 0, next: null, limited: true });
  expect(await list('list=all&q=table_1999&sort=title', many)).toMatchObject({ total: 25, limited: true });
  expect(await list('list=resolved', many)).toMatchObject({ total: 0, limited: false });
  expect(await list('list=all&to=2026-01-01T01:00:00Z&q=lost', many)).toMatchObject({
    total: 1,
    limited: false,
  });
});

test.each([
  [{}, 2],
  [{ sort: 'first_seen', reverse: '1', page: '3' }, 2],
  [{ list: 'new' }, 2],
  [{ list: 'all' }, 5],
  [{ list: 'resolved' }, 5],
  [{ sort: 'title' }, 5],
  [{ group: 'check' }, 5],
  [{ q: 'index', group: 'check', sort: 'title' }, 10],
])('%j costs %i', (query, cost) => {
  expect(costOf(query)).toBe(cost);
});

test('searches spend the budget of a session five times as fast as plain lists', async () => {
  const refusedOf = async (path: string) => {
    const member = await console.owner();
    let refused = 0;
    for (let n = 0; n < 12; n++) {
      for (const answer of await Promise.allSettled(Array.from({ length: 10 }, () => member.read(path)))) {
        if (answer.status === 'fulfilled') continue;
        expect(String(answer.reason)).toContain('too_many_attempts');
        refused += 1;
      }
    }
    return refused;
  };
  for (const path of ['/tickets', '/tickets/ids']) {
    expect(await refusedOf(path)).toBe(0);
    expect(await refusedOf(`${path}?q=x`)).toBeGreaterThan(0);
  }
});
