import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { insertDestination } from '../../notifications/destination-fixture.ts';
import { pruneEvents } from '../../notifications/dispatch/prune-events.ts';
import { openPool } from '../../store/connect.ts';
import { addTickets } from './many-tickets-fixture.ts';
import { countOpenTickets, sendOpenTickets } from './send-open-tickets.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

async function accountWith(count: number) {
  const accountId = await store.account();
  const connection = await store.connection(accountId);
  const tickets = await addTickets(store, accountId, { connections: [connection], count });
  await store.writer.query(
    `update ticket set status = 'open', severity = 'warning', resolved_at = null where account_id = $1`,
    [accountId],
  );
  return { accountId, connection, tickets };
}

const sent = async (accountId: number, destination: number) => {
  const { rows } = await store.writer.query<{ ticket_id: number; waits: number }>(
    `select e.ticket_id, round(extract(epoch from d.due_at - d.queued_at))::int as waits
       from delivery d join event e using (account_id, event_id)
      where account_id = $1 and destination_id = $2 and e.kind = 'ops.ticket_created'`,
    [accountId, destination],
  );
  return rows;
};

test('a destination gets the open tickets that it wants, at once, and no other destination does', async () => {
  const { accountId, tickets } = await accountWith(5);
  const [resolved, critical, snoozed] = tickets;
  await store.writer.query(
    `update ticket set status = 'resolved', resolved_at = now(), resolution = 'no longer found' where account_id = $1 and ticket_id = $2`,
    [accountId, resolved],
  );
  await store.writer.query(
    `update ticket set severity = 'critical' where account_id = $1 and ticket_id = $2`,
    [accountId, critical],
  );
  await store.writer.query(
    `insert into ticket_triage (account_id, ticket_id, version, changed_at, changed_by, acknowledged_at, acknowledged_until,
                                acknowledged_by, acknowledged_severity)
     values ($1, $2, 1, now(), 'Ada', now() + interval '1 s', now() + interval '1 day', 'Ada', 'warning')`,
    [accountId, snoozed],
  );
  const chat = await insertDestination(store.writer, accountId, { channel: 'slack' });
  const pager = await insertDestination(store.writer, accountId, { minimum_severity: 'critical' });
  const other = await insertDestination(store.writer, accountId, { connection_ids: [999_999] });
  const change = <Result>(work: Parameters<typeof changeAccount<Result>>[2]) =>
    changeAccount(store.writer, accountId, work);
  expect(await countOpenTickets(store.writer, accountId, chat)).toBe(3);
  expect(await change((made) => sendOpenTickets(made, chat))).toBe(3);
  const got = await sent(accountId, chat);
  expect(got.map(({ waits }) => waits)).toEqual([0, 0, 0]);
  expect(got.map(({ ticket_id }) => ticket_id)).not.toContain(snoozed);
  expect(await countOpenTickets(store.writer, accountId, chat)).toBe(0);
  expect(await change((made) => sendOpenTickets(made, chat))).toBe(0);
  // Nor does one get them twice because it got them months ago.
  await store.writer.query(
    `update delivery set state = 'accepted', ended_at = now(), is_logged = true, queued_at = now() - interval '90 days'
      where account_id = $1 and destination_id = $2`,
    [accountId, chat],
  );
  const owner = openPool(store.address, 'owner', { max: 1 });
  for await (const _ of pruneEvents(owner));
  await owner.end();
  expect(await countOpenTickets(store.writer, accountId, chat)).toBe(0);
  await store.writer.query(
    `update delivery set state = 'given_up', ended_at = now() where account_id = $1 and destination_id = $2`,
    [accountId, chat],
  );
  expect(await countOpenTickets(store.writer, accountId, chat)).toBe(3);
  expect(await change((made) => sendOpenTickets(made, pager))).toBe(1);
  expect(await sent(accountId, pager)).toEqual([{ ticket_id: critical, waits: 0 }]);
  expect(await change((made) => sendOpenTickets(made, other))).toBe(0);
  expect(await sent(accountId, other)).toEqual([]);
});

test('at most 200 tickets are sent, and none of another account or of a plan without tickets', async () => {
  const { accountId } = await accountWith(210);
  const chat = await insertDestination(store.writer, accountId, { channel: 'slack' });
  const stranger = await store.account();
  const count = (account: number) => countOpenTickets(store.writer, account, chat);
  expect(await count(accountId)).toBe(200);
  expect(await count(stranger)).toBe(0);
  await store.writer.query(
    `update account set plan = 'team', requests_per_minute = null where account_id = $1`,
    [accountId],
  );
  expect(await count(accountId)).toBe(0);
});
