import { beforeAll, expect, inject, test } from 'vitest';
import { fillAccount, makeAccount } from '../../test/contract/account.ts';
import { fixtureJson } from '../../test/contract/fixture-command.ts';
import { createClient, type DbvitalsClient, type Ticket } from '../src/index.ts';

let accountId = 0;
let connectionId = 0;
let dbvitals: DbvitalsClient;

beforeAll(async () => {
  const { id, key } = await makeAccount();
  accountId = id;
  dbvitals = createClient({ baseUrl: inject('origin'), apiKey: key });
  await fillAccount(accountId, { connections: 3, tickets: 130, activity: 200, days: 20 });
  connectionId = (await dbvitals.fleet()).data[0]?.id ?? 0;
  await fixtureJson([
    'connection',
    'change',
    String(connectionId),
    '--tag',
    'env:production',
    '--tag',
    'pci',
  ]);
});

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

test('measures, changes, queries, episodes, alerts and seals are read whole, page by page', async () => {
  const measures = await collect(dbvitals.measures(connectionId));
  expect(measures.length).toBeGreaterThan(10);
  const metric = 'connections_used_ratio';
  const { data, meta } = await dbvitals.measureHistory(connectionId, { metric, step: '1h' });
  expect([data.length > 5, meta.step, meta.unit]).toEqual([true, '1h', 'ratio']);
  expect(await collect(dbvitals.fleetMeasures({ metric, tag: ['env:production', 'pci'] }))).toEqual([
    expect.objectContaining({ connection_id: connectionId, tags: ['env:production', 'pci', 'shop'] }),
  ]);
  const changes = await collect(dbvitals.fleetChanges({ per_page: 3 }));
  expect(new Set(changes.map(({ id }) => id)).size).toBe(changes.length);
  const own = await collect(dbvitals.changes(connectionId, { per_page: 2 }));
  expect(own.map(({ id }) => id)).toEqual(
    changes.filter(({ connection_id }) => connection_id === connectionId).map(({ id }) => id),
  );
  const queries = await collect(dbvitals.queries(connectionId, { per_page: 3 }));
  expect(queries.map(({ query_id }) => typeof query_id)).toContain('string');
  for (const items of [
    dbvitals.episodes(connectionId),
    dbvitals.alerts({ status: 'open' }),
    dbvitals.seals(),
  ])
    expect(await collect<unknown>(items)).toBeInstanceOf(Array);
});

test('filters and fields of the first eight', async () => {
  const { data, summary } = await dbvitals.fleet({ tag: ['pci'], include: 'url,tags' });
  expect(data).toMatchObject([{ id: connectionId, tags: ['env:production', 'pci', 'shop'] }]);
  expect(summary.total).toBe(1);
  const { checks } = await dbvitals.latestCheck(connectionId, { include: 'measured,object' });
  expect(Object.keys(checks[0] ?? {})).toContain('threshold');
  const types = ['ticket_opened', 'ticket_resolved'];
  const entries = await collect(dbvitals.activity({ action_type: types, include: 'actor' }));
  expect(new Set(entries.map(({ action_type }) => action_type))).toEqual(new Set(types));
});

test('a mirror has every ticket, goes on from what was stored, and ends with its signal', async () => {
  const mirror = new Map<number, Ticket>();
  const end = new AbortController();
  let stored: string | undefined;
  const ended = (async () => {
    for await (const { tickets, after } of dbvitals.mirrorTickets({
      include: ['tags'],
      signal: end.signal,
    })) {
      for (const ticket of tickets) mirror.set(ticket.id, ticket);
      stored = after;
      if (mirror.size >= 130) end.abort(new Error('enough'));
    }
  })();
  await expect(ended).rejects.toThrow('enough');
  const all = await collect(dbvitals.tickets());
  expect([...mirror.keys()].toSorted((a, b) => a - b)).toEqual(
    all.map(({ id }) => id).toSorted((a, b) => a - b),
  );
  await fixtureJson(['connection', 'change', String(connectionId), '--name', 'renamed']);
  const [batch] = await first(dbvitals.mirrorTickets({ after: stored }));
  expect(batch?.tickets.every(({ connection_name }) => connection_name === 'renamed')).toBe(true);
});

/** The first item. */
async function first<Item>(items: AsyncGenerator<Item>): Promise<Item[]> {
  const { value, done } = await items.next();
  await items.return(undefined);
  return done ? [] : [value];
}
