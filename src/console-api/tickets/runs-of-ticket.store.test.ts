import { afterAll, beforeAll, expect, test } from 'vitest';
import { buffersOf } from '../../../test/support/buffers.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { addTickets } from '../../tickets/triage/many-tickets-fixture.ts';
import { type Owner, openTestConsole, type TestConsole } from '../console-fixture.ts';
import { runsOfTicket } from './runs-of-ticket.ts';
import type { TicketDetail } from './ticket.ts';

let store: TestStore;
let console: TestConsole;
let ada: Owner;
let connections: number[];
/** Of the first connection, one each second minute from 00:02 on. */
let ids: number[];

beforeAll(async () => {
  store = await startTestStore();
  console = await openTestConsole(store);
  ada = await console.owner();
  connections = [await store.connection(ada.accountId), await store.connection(ada.accountId)];
  ids = await addTickets(store, ada.accountId, { connections, count: 600 });
  ids = ids.filter((_, n) => n % 2 === 1);
});

afterAll(async () => {
  await console.close();
  await store.stop();
});

/** Adds a run of each connection at those minutes; returns the ids of the first connection's, oldest first. */
async function addRuns(first: number, last: number, step: number): Promise<number[]> {
  const { rows } = await store.writer.query<{ id: number; connection_id: number }>(
    `insert into health_check (account_id, connection_id, created_at, score, summary_text, findings)
     select $1, c, timestamptz '2026-01-01 00:00Z' + n * interval '1 min', 80, '', '[]'
       from generate_series($3::int, $4::int, $5::int) n, unnest($2::bigint[]) with ordinality as of (c, place)
      order by n, place
     returning health_check_id as id, connection_id`,
    [ada.accountId, connections, first, last, step],
  );
  return rows.filter(({ connection_id }) => connection_id === connections[0]).map(({ id }) => id);
}

test('a ticket names the run that opened it and the run before', async () => {
  const runsOf = async (n: number) => (await ada.read<TicketDetail>(`/tickets/${ids[n]}`)).runs;
  expect(await runsOf(0)).toBeNull();
  const runs = await addRuns(2, 2, 1);
  // Only one run.
  expect(await runsOf(0)).toBeNull();
  runs.push(...(await addRuns(4, 20_000, 2)));
  expect(await runsOf(0)).toBeNull();
  for (const n of [1, 2, 3, 150, 298, 299])
    expect(await runsOf(n), `ticket ${n}`).toEqual({ before: runs[n - 1], opened: runs[n] });

  await (await store.superuser('store')).query('vacuum (analyze) health_check');
  expect(
    await buffersOf(store, ada.accountId, runsOfTicket, [ada.accountId, ids[150]], 'console'),
  ).toBeLessThan(150);
});
