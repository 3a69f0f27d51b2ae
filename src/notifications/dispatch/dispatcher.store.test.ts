import { hash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openDestination } from '../destinations/open-destination.ts';
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
const statuses = new Map<string, number>();
const running: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  store = await startTestStore();
  receiver = await startReceiver(({ path }) => statuses.get(path) ?? 200);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((dispatcher) => dispatcher.stop()));
});
afterAll(async () => {
  await receiver.stop();
  await store.stop();
});

const start = () => running.push(runDispatcher(store));

const rows = <Row extends object>(text: string, ...values: unknown[]) => rowsOf<Row>(store, text, values);
const until = <Row extends object>(text: string, ...values: unknown[]) => firstRow<Row>(store, text, values);

const selectEnded = `select from destination_queue where destination_id = $1 and queued = 0`;
const selectEntries = `
  select action_type, properties from activity where account_id = $1 and action_type like 'delivery_%' order by id`;

test('an event is sent once, signed and numbered, and its end is one entry in the log', async () => {
  const accountId = await store.account();
  const id = await addTo(store, accountId, {
    name: 'Hooks',
    channel: 'webhook',
    url: `${receiver.url}/once`,
    kinds: ['alert.triggered', 'health_check.completed'],
  });
  await queue(store, accountId, [newEvent(), newEvent({ kind: 'health_check.completed' })]);
  start();
  const [first, second] = await receiver.requests('/once', 2);
  const open = await openDestination(store.writer, store.deps.secret, accountId, id);
  const verify = new Webhook(open?.secrets.signing?.[0]?.secret ?? '');
  const headers = first?.headers as Record<string, string>;
  expect(verify.verify(first?.body ?? '', headers)).toMatchObject({ event: 'alert.triggered' });
  expect(first?.headers['dbvitals-sequence']).toBe('1');
  expect(second?.headers['dbvitals-sequence']).toBe('2');
  await until(`${selectEntries} limit 1`, accountId);
  const entries = await rows<{ action_type: string; properties: object }>(selectEntries, accountId);
  expect(entries).toEqual([
    {
      action_type: 'delivery_accepted',
      properties: expect.objectContaining({
        destination_id: id,
        destination: 'Hooks',
        event_id: first?.headers['webhook-id'],
        kind: 'alert.triggered',
        status: 200,
        attempts: 1,
        sequence: 1,
        body_sha256: hash('sha256', first?.body ?? ''),
      }),
    },
  ]);
  const [attempt] = await rows<{ headers: Record<string, string>; response: string; status: number }>(
    'select headers, response, status from delivery_attempt where destination_id = $1 order by delivery_id',
    id,
  );
  expect(attempt).toMatchObject({ response: 'said 200', status: 200 });
  expect(attempt?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(await rows(selectEnded, id)).toHaveLength(1);
});

test('a failure is tried again after 5 s with the same id and the same bytes', async () => {
  const accountId = await store.account();
  statuses.set('/again', 500);
  const id = await addTo(store, accountId, { name: 'A', channel: 'webhook', url: `${receiver.url}/again` });
  await queue(store, accountId, [newEvent()]);
  start();
  const [first] = await receiver.requests('/again', 1);
  const failed = await until<{ pause: number; due: boolean }>(
    `select extract(epoch from v.due_at - a.started_at)::float8 as pause, q.due_at <= v.due_at as due
       from delivery v join delivery_attempt a using (account_id, destination_id, delivery_id)
       join destination_queue q using (account_id, destination_id)
      where v.destination_id = $1 and v.state = 'queued' and v.status = 500 and q.failing_since is not null`,
    id,
  );
  expect(failed.pause).toBeGreaterThan(4.4);
  expect(failed.pause).toBeLessThan(15); // on a busy machine the record comes late
  expect(failed.due).toBe(true);
  statuses.delete('/again');
  const [, second] = await receiver.requests('/again', 2);
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(second?.body).toBe(first?.body);
  await until(`select from destination_queue where destination_id = $1 and failing_since is null`, id);
});

test('the tenth failure gives the delivery up', async () => {
  const accountId = await store.account();
  statuses.set('/never', 503);
  const id = await addTo(store, accountId, { name: 'N', channel: 'webhook', url: `${receiver.url}/never` });
  await queue(store, accountId, [newEvent()]);
  await store.writer.query('update delivery set attempts = 9 where destination_id = $1', [id]);
  start();
  const entry = await until<{ action_type: string; properties: object }>(
    `${selectEntries} limit 1`,
    accountId,
  );
  expect(entry).toMatchObject({
    action_type: 'delivery_given_up',
    properties: { attempts: 10, status: 503, reason: '10 attempts failed.' },
  });
});

test('several processes at once send each event once and log each end once', async () => {
  const accountId = await store.account();
  const path = '/several';
  const id = await addTo(store, accountId, { name: 'S', channel: 'webhook', url: receiver.url + path });
  await queue(
    store,
    accountId,
    Array.from({ length: 120 }, () => newEvent()),
  );
  start();
  start();
  start();
  const got = await receiver.requests(path, 120);
  await until(selectEnded, id);
  await until(
    `select from activity where account_id = $1 and action_type = 'delivery_accepted' having count(*) >= 120`,
    accountId,
  );
  await wait(1_500);
  expect(got).toHaveLength(120);
  expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(120);
  expect(new Set(got.map(({ headers }) => Number(headers['dbvitals-sequence'])))).toEqual(
    new Set(Array.from({ length: 120 }, (_, n) => n + 1)),
  );
  const entries = await rows<{ properties: { delivery_id: number } }>(selectEntries, accountId);
  expect(entries).toHaveLength(120);
  expect(new Set(entries.map(({ properties }) => properties.delivery_id)).size).toBe(120);
});

test('a lease that was not recorded is taken over by another process', async () => {
  const accountId = await store.account();
  const id = await addTo(store, accountId, { name: 'L', channel: 'webhook', url: `${receiver.url}/lost` });
  await queue(store, accountId, [newEvent()]);
  // As kill -9 leaves it.
  const left = Date.now();
  await store.writer.query(
    `with v as (update delivery set due_at = now() + interval '2 s' where destination_id = $1 returning due_at)
     update destination_queue q set due_at = v.due_at from v where q.destination_id = $1`,
    [id],
  );
  start();
  const [taken] = await receiver.requests('/lost', 1);
  expect(taken?.at).toBeGreaterThan(left + 1_900);
});

test('a destination gets no more requests a second than it allows', async () => {
  const accountId = await store.account();
  const url = `${receiver.url}/rate`;
  await addTo(store, accountId, { name: 'R', channel: 'webhook', url, requestsPerSecond: 5 });
  start();
  await queue(store, accountId, [newEvent()]);
  await receiver.requests('/rate', 1); // the child that sends has started
  const began = Date.now();
  await queue(
    store,
    accountId,
    Array.from({ length: 12 }, () => newEvent()),
  );
  const got = await receiver.requests('/rate', 13);
  expect((got.at(-1)?.at ?? 0) - began).toBeGreaterThan(1_000); // 5 at once, then 7 more
});

test('a hanging destination delays no other one of the account', async () => {
  const accountId = await store.account();
  statuses.set('/hang', 0);
  await addTo(store, accountId, { name: 'Hanging', channel: 'webhook', url: `${receiver.url}/hang` });
  await addTo(store, accountId, { name: 'Well', channel: 'webhook', url: `${receiver.url}/well` });
  start();
  await queue(
    store,
    accountId,
    Array.from({ length: 40 }, () => newEvent()),
  );
  const got = await receiver.requests('/well', 40);
  expect(got).toHaveLength(40);
  expect(receiver.got.filter(({ path }) => path === '/hang').length).toBeLessThanOrEqual(10);
  statuses.delete('/hang');
  receiver.breakOff();
  await store.writer.query(`update delivery set state = 'cancelled' where account_id = $1`, [accountId]);
});

test('chats get what happens within 30 s in one message, and an alert that ended in it is one line', async () => {
  const accountId = await store.account();
  statuses.set('/chat', 500);
  const id = await addTo(store, accountId, { name: 'C', channel: 'slack', url: `${receiver.url}/chat` });
  const titled = (title: string, given = {}) => {
    const event = newEvent(given);
    return { ...event, details: { ...event.details, title } };
  };
  await queue(store, accountId, [titled('Rule one', { alertId: 1 }), titled('Rule two', { alertId: 2 })]);
  await queue(store, accountId, [titled('Rule one', { alertId: 1, kind: 'alert.resolved' })]);
  // One that is held for quiet hours is not taken along.
  await queue(store, accountId, [titled('Held', { alertId: 3 })]);
  await store.writer.query(
    `update delivery set due_at = case sequence when 4 then now() + interval '20 s' else now() end,
                         queued_at = case sequence when 4 then now() - interval '3 hours' else queued_at end
      where destination_id = $1`,
    [id],
  );
  await store.writer.query('update destination_queue set due_at = now() where destination_id = $1', [id]);
  start();
  const [first] = await receiver.requests('/chat', 1);
  // The one that goes on is also the headline.
  expect(first?.body.split('Rule one')).toHaveLength(2);
  expect(first?.body).toContain('Rule two, and 1 more (1 ended)');
  expect(first?.body).not.toContain('Held');
  await until(
    `select from delivery where destination_id = $1 having count(*) filter (where attempts = 1) = 3`,
    id,
  );
  statuses.delete('/chat');
  const [, second] = await receiver.requests('/chat', 2);
  expect(second?.body).toBe(first?.body);
  await until(
    `select from activity where account_id = $1 and action_type = 'delivery_accepted' having count(*) = 3`,
    accountId,
  );
  const entries = await rows<{ properties: { body_sha256: string } }>(selectEntries, accountId);
  const digests = new Set(entries.map(({ properties }) => properties.body_sha256));
  expect([...digests]).toEqual([hash('sha256', first?.body ?? '')]);
  const [message] = await rows<{ body: string }>(
    'select body from delivery_message where destination_id = $1',
    id,
  );
  expect(message?.body).toBe(first?.body);
});
