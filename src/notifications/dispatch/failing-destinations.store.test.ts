import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import {
  addTo,
  firstRow,
  newEvent,
  queue,
  rowsOf,
  runDispatcher,
  startReceiver,
} from './dispatcher-fixture.ts';

let store: TestStore;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let dispatcher: ReturnType<typeof runDispatcher>;
const statuses = new Map<string, number>();

beforeAll(async () => {
  store = await startTestStore();
  receiver = await startReceiver(({ path }) => statuses.get(path) ?? 200);
  dispatcher = runDispatcher(store);
});
afterAll(async () => {
  await dispatcher.stop();
  await receiver.stop();
  await store.stop();
});

const rows = <Row extends object>(text: string, ...values: unknown[]) => rowsOf<Row>(store, text, values);
const until = <Row extends object>(text: string, ...values: unknown[]) => firstRow<Row>(store, text, values);

test('410 disables at once, says so to the other destinations, and keeps what is queued', async () => {
  const accountId = await store.account();
  statuses.set('/gone', 410);
  const id = await addTo(store, accountId, { name: 'Gone', channel: 'webhook', url: `${receiver.url}/gone` });
  const url = `${receiver.url}/told`;
  await addTo(store, accountId, { name: 'Told', channel: 'webhook', url, kinds: ['destination.disabled'] });
  await queue(store, accountId, [newEvent()]);
  const [told] = await receiver.requests('/told', 1);
  expect(JSON.parse(told?.body ?? '')).toMatchObject({
    event: 'destination.disabled',
    data: { destination_id: id, name: 'Gone', channel: 'webhook', reason: 'The receiver answered 410 Gone.' },
  });
  await queue(store, accountId, [newEvent()]);
  await wait(500);
  expect(receiver.got.filter(({ path }) => path === '/gone')).toHaveLength(1);
  const [state] = await rows<object>(
    `select d.state, d.state_reason, q.queued, q.due_at, (select count(*)::int from delivery v where v.destination_id = $1) as all
       from destination d join destination_queue q using (destination_id) where destination_id = $1`,
    id,
  );
  expect(state).toEqual({
    state: 'disabled',
    state_reason: 'The receiver answered 410 Gone.',
    queued: 2,
    due_at: null,
    all: 2,
  });
  const entries = await rows(
    `select from activity where account_id = $1 and action_type = 'destination_disabled'`,
    accountId,
  );
  expect(entries).toHaveLength(1);
});

test('five days of failures over at least 12 hours disable a destination, and fewer do not', async () => {
  const accountId = await store.account();
  for (const path of ['/days', '/two']) statuses.set(path, 500);
  const days = await addTo(store, accountId, { name: 'D', channel: 'webhook', url: `${receiver.url}/days` });
  const two = await addTo(store, accountId, { name: 'T', channel: 'webhook', url: `${receiver.url}/two` });
  await store.writer.query(
    `update destination_queue set failing_since = now() - interval '6 days' where account_id = $1`,
    [accountId],
  );
  // Of one destination, an attempt failed yesterday; of the other, only the next one within the last 5 days.
  await store.writer.query(
    `insert into delivery_attempt (account_id, destination_id, delivery_id, attempt, started_at, milliseconds, result, headers,
                                   response)
     select account_id, destination_id, 0, 1,
            now() - case destination_id when $2 then interval '1 day' else interval '6 days' end, 1, 'x', '{}', ''
       from destination where account_id = $1`,
    [accountId, days],
  );
  await queue(store, accountId, [newEvent()]);
  await until(`select from destination where destination_id = $1 and state = 'disabled'`, days);
  await receiver.requests('/two', 1);
  await wait(300);
  expect(
    await rows(`select from destination where destination_id = $1 and state = 'enabled'`, two),
  ).toHaveLength(1);
});

test('a destination that was tampered with fails with the reason, and gets nothing', async () => {
  const accountId = await store.account();
  const id = await addTo(store, accountId, {
    name: 'X',
    channel: 'webhook',
    url: `${receiver.url}/tampered`,
  });
  await store.writer.query(
    `update destination set target = 'https://evil.example' where destination_id = $1`,
    [id],
  );
  await queue(store, accountId, [newEvent()]);
  const { last_result } = await until<{ last_result: string }>(
    'select last_result from destination_queue where destination_id = $1 and last_result is not null',
    id,
  );
  expect(last_result).toMatch(/its stored settings were changed outside dbvitals/);
  expect(receiver.got.filter(({ path }) => path === '/tampered')).toEqual([]);
});

test('an alert that is still tried when its end is accepted does not open an incident again', async () => {
  const accountId = await store.account();
  statuses.set('/enqueue', 503);
  const url = `${receiver.url}/enqueue`;
  const routingKey = '0123456789abcdef0123456789abcdef';
  await addTo(store, accountId, { name: 'Pager', channel: 'pagerduty', url, routingKey });
  await queue(store, accountId, [newEvent({ alertId: 7 }), newEvent({ alertId: 8 })]);
  await until('select from destination_queue where account_id = $1 and failing_since is not null', accountId);
  await receiver.requests('/enqueue', 2);
  statuses.set('/enqueue', 202);
  await queue(store, accountId, [newEvent({ kind: 'alert.resolved', alertId: 7 })]);
  await until(`select from delivery where account_id = $1 and state = 'cancelled'`, accountId);
  const ends = `
    select e.kind, e.alert_id, v.state, v.reason
      from delivery v join event e using (account_id, event_id)
     where v.account_id = $1 and v.ended_at is not null order by v.sequence`;
  // The other alert's first event is sent after its 5 seconds.
  await until(
    `select from delivery where account_id = $1 and state = 'accepted' and sequence = 2`,
    accountId,
  );
  expect(await rows(ends, accountId)).toEqual([
    { kind: 'alert.triggered', alert_id: 7, state: 'cancelled', reason: 'Its end was accepted before.' },
    { kind: 'alert.triggered', alert_id: 8, state: 'accepted', reason: null },
    { kind: 'alert.resolved', alert_id: 7, state: 'accepted', reason: null },
  ]);
  const [left] = await rows('select queued from destination_queue where account_id = $1', accountId);
  expect(left).toEqual({ queued: 0 });
});
