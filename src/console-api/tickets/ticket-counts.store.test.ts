import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { addTickets } from '../../tickets/triage/many-tickets-fixture.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import { TICKET_LISTS, type TicketListName } from '../../vocabulary/ticket-lists.ts';
import type { ConnectionDetail } from '../connections/connection-schemas.ts';
import { type Owner, openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { TicketCounts, TicketPage } from './ticket-list.ts';
import type { TicketStats } from './ticket-stats.ts';

let store: TestStore;
let console: TestConsole;
let ada: Owner;
let orders: number;

beforeAll(async () => {
  store = await startTestStore();
  console = await openTestConsole(store);
  ada = await console.owner();
  orders = await store.connection(ada.accountId, { name: 'orders' });
  const connections = [orders, await store.connection(ada.accountId, { name: 'billing' })];
  const ids = await addTickets(store, ada.accountId, { connections, count: 40, resolvedTenths: 3 });
  const { data } = await ada.read<TicketPage>('/tickets?list=open&sort=severity');
  const [first, second, third, fourth, fifth, sixth] = data;
  const seen = (...tickets: typeof data) => tickets.map(({ id, version }) => ({ id, version }));
  if (!first || !second || !third || !fourth || !fifth || !sixth)
    throw new Error(`only ${ids.length} tickets`);
  await ada.send('POST', '/tickets/triage', {
    tickets: seen(first, second),
    acknowledged: true,
    until: '4h',
  });
  await ada.send('POST', '/tickets/triage', { tickets: seen(third), acknowledged: true });
  await ada.send('POST', '/tickets/triage', { tickets: seen(third, fourth), assignee_id: ada.memberId });
  const { check_id, object, connection_id } = fifth;
  await ada.send('POST', `/connections/${connection_id}/silences`, {
    check_id,
    object,
    reason: 'accepted_risk',
    note: 'Known.',
    until: '30d',
  });
  await store.writer.query(`update member set name = 'Ada' where member_id = $1`, [ada.memberId]);
  await ada.send('POST', `/tickets/${sixth.id}/comments`, { body: '@Ada: seen?' });
});

afterAll(async () => {
  await console.close();
  await store.stop();
});

const total = async (query: string, of = ada) => (await of.read<TicketPage>(`/tickets?${query}`)).total;

test.each(['', 'assignee=me', 'q=unused', 'orders'])(
  'each count of a filter is the total of the list that it leads to: %s',
  async (name) => {
    const narrowed = name === 'orders' ? `connection_id=${orders}` : name;
    // The cases together would spend the budget of one session.
    const of = ['q=unused', 'orders'].includes(name)
      ? await console.member(ada.accountId, `Reader of ${name}`, 'owner')
      : ada;
    const { data } = await of.read<TicketCounts>(`/tickets/counts?${narrowed}`);
    const counted = (matches: (row: TicketCounts['data'][number]) => boolean) =>
      data.filter(matches).reduce((sum, { count }) => sum + count, 0);
    for (const list of Object.keys(TICKET_LISTS) as TicketListName[]) {
      const states: readonly string[] = TICKET_LISTS[list];
      const isListed = ({ state }: { state: string }) => states.includes(state);
      expect(counted(isListed), list).toBe(await total(`${narrowed}&list=${list}`, of));
      for (const severity of SEVERITIES) {
        expect(counted((row) => isListed(row) && row.severity === severity)).toBe(
          await total(`${narrowed}&list=${list}&severity=${severity}`, of),
        );
      }
      expect(counted((row) => isListed(row) && row.mentioned)).toBe(
        await total(`${narrowed}&list=${list}&mentioned=me`, of),
      );
    }
  },
);

test('header, connection and fleet count as open what the list has, and snoozed tickets apart', async () => {
  const ben = await console.member(ada.accountId, 'Ben', 'owner');
  const [open, snoozed] = [await total('list=open', ben), await total('list=snoozed', ben)];
  expect(snoozed).toBe(2);
  expect(await ben.read<TicketStats>('/tickets/stats')).toMatchObject({
    open,
    snoozed,
    critical: await total('list=open&severity=critical', ben),
  });
  const detail = await ben.read<ConnectionDetail>(`/connections/${orders}`);
  expect(detail.open_tickets).toBe(await total(`list=open&connection_id=${orders}`, ben));
  const { data: checks } = await ben.read<{ data: { check_id: string; connections: number }[] }>(
    '/fleet/checks',
  );
  for (const { check_id, connections } of checks) {
    const { data: fleet } = await ben.read<{ data: { open_tickets: number }[] }>(`/fleet?check=${check_id}`);
    expect(fleet).toHaveLength(connections);
    const { data: listed } = await ben.read<TicketPage>('/tickets?list=open');
    expect(fleet.reduce((sum, { open_tickets }) => sum + open_tickets, 0)).toBe(
      listed.filter((ticket) => ticket.check_id === check_id).length,
    );
  }
});
