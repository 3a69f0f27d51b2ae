import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { addTickets } from '../../tickets/triage/many-tickets-fixture.ts';
import { type Owner, openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { TicketIds, TicketPage } from './ticket-list.ts';

let store: TestStore;
let console: TestConsole;
let ada: Owner;
/** Connections by their tags. */
let tagged: Record<string, number>;

beforeAll(async () => {
  store = await startTestStore();
  console = await openTestConsole(store);
  ada = await console.owner();
  const eve = await console.owner();
  tagged = {};
  for (const tags of ['env:production,team:shop', 'env:test,pci', 'team:shop', '']) {
    tagged[tags] = await store.connection(ada.accountId);
    const connections = [tagged[tags]];
    await addTickets(store, ada.accountId, { connections, count: 2 });
    const add = tags.split(',').filter(Boolean);
    if (add.length > 0) await ada.send('POST', '/connections/tags', { connections, add });
  }
  const theirs = [await store.connection(eve.accountId)];
  await addTickets(store, eve.accountId, { connections: theirs, count: 2 });
  await eve.send('POST', '/connections/tags', { connections: theirs, add: ['pci', 'eve'] });
});

afterAll(async () => {
  await console.close();
  await store.stop();
});

test.each<[string, string[]]>([
  ['pci', ['env:test,pci']],
  ['PCI', ['env:test,pci']],
  ['team:shop', ['env:production,team:shop', 'team:shop']],
  // Tags of one key are alternatives, keys must all match.
  ['env:test,env:production', ['env:production,team:shop', 'env:test,pci']],
  ['env:test,env:production,team:shop', ['env:production,team:shop']],
  ['env:none', []],
  ['eve', []],
  ["x' or true --", []],
])('tickets are filtered by the tags %s of their connections', async (tags, expected) => {
  const query = `tags=${encodeURIComponent(tags)}`;
  const { data, total } = await ada.read<TicketPage>(`/tickets?${query}`);
  const connections = expected.map((each) => tagged[each]);
  expect(new Set(data.map(({ connection_id }) => connection_id))).toEqual(new Set(connections));
  expect(total).toBe(2 * expected.length);
  const ids = await ada.read<TicketIds>(`/tickets/ids?${query}`);
  expect(ids.total).toBe(total);
});

test('grouped by environment, each ticket is in the group of its connection’s', async () => {
  const { data } = await ada.read<TicketPage>('/tickets?group=environment');
  expect(data).toHaveLength(8);
  for (const { connection_id, group } of data) {
    const [tags = ''] = Object.entries(tagged).find(([, id]) => id === connection_id) ?? [];
    const environment = /env:(\w+)/.exec(tags)?.[1] ?? null;
    expect(group).toEqual({ key: environment, label: environment, size: environment === null ? 4 : 2 });
  }
});
