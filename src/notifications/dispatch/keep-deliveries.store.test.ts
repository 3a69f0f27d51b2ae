import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeAlerts } from '../../../test/support/console-alerts.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openPool } from '../../store/connect.ts';
import type { Read } from '../../store/read.ts';
import { listDeliveries } from '../deliveries/list-deliveries.ts';
import { readDelivery } from '../deliveries/read-delivery.ts';
import { resendDelivery, resendRange } from '../deliveries/resend.ts';
import { addTo, newEvent, queue } from './dispatcher-fixture.ts';
import { findDue, parkQueues } from './find-due.ts';
import { leaseDeliveries } from './lease-deliveries.ts';
import { logEnds } from './log-ends.ts';
import { pauseRestored } from './pause-restored.ts';
import { pruneEvents } from './prune-events.ts';
import { recordAttempts } from './record-attempts.ts';

let store: TestStore;
let owner: pg.Pool;
beforeAll(async () => {
  store = await startTestStore();
  owner = openPool(store.address, 'owner', { max: 1 });
});
afterAll(async () => {
  await owner.end();
  await store.stop();
});

const url = 'http://127.0.0.1:9/hook';
const read: Read = async (statement, values) => (await store.writer.query(statement, values)).rows;

async function webhook(accountId: number, name = 'Hooks'): Promise<number> {
  return addTo(store, accountId, {
    name,
    channel: 'webhook',
    url,
    kinds: ['alert.triggered', 'health_check.completed'],
  });
}

/** Leases everything that is due for the destination. */
async function lease(destinationId: number) {
  const due = (await findDue(store.writer, [])).filter((each) => each.destinationId === destinationId);
  return leaseDeliveries(
    store.writer,
    due.map((destination) => ({ destination, slots: 10, mostEvents: null })),
  );
}

/** Sends what is due for the destination, with this status as the answer. */
async function send(destinationId: number, status = 200): Promise<void> {
  const sent = {
    status,
    accepted: status === 200,
    result: `${status}`,
    response: 'said so',
    milliseconds: 1.5,
    retryAfter: null,
    gone: false,
  };
  const attempts = (await lease(destinationId)).map((each) => ({
    lease: each,
    startedAt: new Date(),
    headers: {},
    sent,
  }));
  const [first, ...others] = attempts;
  if (first) await recordAttempts(store.writer, [first, ...others]);
}

const stateOf = (destinationId: number) =>
  read<{ queued: number; last_sequence: number; epoch: string; state: string; due_at: Date | null }>(
    `select q.queued, q.last_sequence, q.epoch, q.due_at, d.state from destination_queue q
       join destination d using (account_id, destination_id) where destination_id = $1`,
    [destinationId],
  );

test('two processes that lease at once get different deliveries, and never wait for each other', async () => {
  const accountId = await store.account();
  const ids = [await webhook(accountId, 'One'), await webhook(accountId, 'Two')];
  for (let n = 0; n < 5; n += 1) await queue(store, accountId, [newEvent()]);
  const due = (await findDue(store.writer, [])).filter(({ destinationId }) => ids.includes(destinationId));
  expect(due.map(({ wants }) => wants)).toEqual([5, 5]);
  const shares = due.map((destination) => ({ destination, slots: 3, mostEvents: null }));
  const taken = (await Promise.all([1, 2, 3].map(() => leaseDeliveries(store.writer, shares)))).flat();
  const again = await leaseDeliveries(store.writer, shares);
  const all = [...taken, ...again].map(({ deliveries: [{ delivery_id }] }) => delivery_id);
  expect(new Set(all).size).toBe(all.length);
  expect(all.length).toBeGreaterThanOrEqual(6);
  // A round that holds the queue makes no other one wait.
  const holder = await store.writer.connect();
  await holder.query('begin');
  await holder.query('select from destination_queue where account_id = $1 for update', [accountId]);
  const [state] = await stateOf(ids[0] ?? 0);
  expect(state?.due_at).not.toBeNull();
  expect(await leaseDeliveries(store.writer, shares)).toEqual([]);
  await holder.query('rollback');
  holder.release();
});

test('the queue of a disabled destination is parked, and comes back with the next event', async () => {
  const accountId = await store.account();
  const id = await webhook(accountId);
  await queue(store, accountId, [newEvent()]);
  await store.writer.query(`update destination set state = 'disabled' where destination_id = $1`, [id]);
  const own = async () => (await findDue(store.writer, [])).filter((each) => each.destinationId === id);
  const due = await own();
  expect(due).toMatchObject([{ isEnabled: false }]);
  await parkQueues(store.writer, due);
  expect(await own()).toEqual([]);
  await queue(store, accountId, [newEvent()]);
  expect(await own()).toHaveLength(1);
  await store.writer.query(`update destination set state = 'enabled' where destination_id = $1`, [id]);
  await parkQueues(store.writer, due); // what an earlier round saw no longer holds
  expect(await own()).toHaveLength(1);
});

test('a delivery is sent again as one of its own, with the same event and number', async () => {
  const accountId = await store.account();
  const id = await webhook(accountId);
  await queue(store, accountId, [newEvent(), newEvent()]);
  const [second, first] = await listDeliveries(read, accountId, id, { limit: 10 });
  const key = { accountId, destinationId: id, deliveryId: first?.id ?? 0 };
  expect(await resendDelivery(store.writer, key)).toBeNull(); // it is queued
  await send(id);
  const again = await resendDelivery(store.writer, key);
  expect(again).toBeGreaterThan(second?.id ?? 0);
  expect(await resendDelivery(store.writer, key)).toBeNull(); // queued already
  expect(await resendDelivery(store.writer, { ...key, accountId: await store.account() })).toBeNull();
  const [newest] = await listDeliveries(read, accountId, id, { limit: 10 });
  expect(newest).toMatchObject({
    id: again,
    event_id: first?.event_id,
    sequence: first?.sequence,
    attempts: 0,
  });
  expect(await stateOf(id)).toMatchObject([{ queued: 1, last_sequence: 2 }]);
  await send(id);
  const kept = await readDelivery(read, accountId, first?.id ?? 0);
  expect(kept.list).toMatchObject([{ attempt: 1, status: 200, response: 'said so' }]);
  expect(JSON.parse(kept.body ?? '')).toMatchObject({ event: 'alert.triggered' });

  const range = { accountId, destinationId: id, from: new Date(0), to: new Date(Date.now() + 60_000) };
  expect(await resendRange(store.writer, { ...range, states: ['given_up'] })).toBe(0);
  expect(await resendRange(store.writer, { ...range, states: ['accepted'] })).toBe(2); // each event once
  await send(id);
  await wait(1_100);
  expect(await logEnds(store.writer)).toBeGreaterThanOrEqual(5);
  const [log] = await read<{ entries: number; deliveries: number }>(
    `select count(*)::int as entries, count(distinct properties ->> 'delivery_id')::int as deliveries
       from activity where account_id = $1 and action_type = 'delivery_accepted'`,
    [accountId],
  );
  expect(log).toEqual({ entries: 5, deliveries: 5 });
});

test('a list has pages that stay stable, and shows no other account', async () => {
  const accountId = await store.account();
  const id = await webhook(accountId);
  await queue(store, accountId, [newEvent(), newEvent(), newEvent({ kind: 'health_check.completed' })]);
  const [newest, next] = await listDeliveries(read, accountId, id, { limit: 2 });
  await queue(store, accountId, [newEvent()]);
  const rest = await listDeliveries(read, accountId, id, { limit: 2, before: next?.id ?? 0 });
  expect([newest, next, ...rest].map((row) => row?.sequence)).toEqual([3, 2, 1]);
  expect(
    await listDeliveries(read, accountId, id, { limit: 9, kind: 'health_check.completed' }),
  ).toHaveLength(1);
  expect(await listDeliveries(read, accountId, id, { limit: 9, state: 'accepted' })).toEqual([]);
  const other = await store.account();
  expect(await listDeliveries(read, other, id, { limit: 9 })).toEqual([]);
  await expect(readDelivery(read, other, newest?.id ?? 0)).rejects.toThrow(/There is no delivery/);
});

async function prune(): Promise<void> {
  for await (const _ of pruneEvents(owner));
}

test('after 30 days what is queued is given up with an entry, and everything is deleted', async () => {
  const accountId = await store.account();
  const id = await webhook(accountId);
  await queue(store, accountId, [newEvent()]);
  await send(id, 500);
  await queue(store, accountId, [newEvent()]);
  await store.writer.query(
    `update delivery set queued_at = queued_at - interval '31 days' where account_id = $1 and sequence = 1`,
    [accountId],
  );
  await store.writer.query(
    `update event set occurred_at = occurred_at - interval '31 days'
      where account_id = $1 and event_id in (select event_id from delivery where account_id = $1 and sequence = 1)`,
    [accountId],
  );
  await prune();
  const given = await listDeliveries(read, accountId, id, { limit: 9, state: 'given_up' });
  expect(given).toMatchObject([{ sequence: 1, reason: 'It was queued for 30 days.' }]); // until its entry is written
  expect(await stateOf(id)).toMatchObject([{ queued: 1 }]);
  await wait(1_100);
  await logEnds(store.writer);
  await prune();
  expect((await listDeliveries(read, accountId, id, { limit: 9 })).map(({ sequence }) => sequence)).toEqual([
    2,
  ]);
  expect(await read('select from event where account_id = $1', [accountId])).toHaveLength(1);
  const entries = await read<{ properties: object }>(
    `select properties from activity where account_id = $1 and action_type = 'delivery_given_up'`,
    [accountId],
  );
  expect(entries).toMatchObject([{ properties: { attempts: 1, status: 500, sequence: 1 } }]);
});

/** Lets an account's events and deliveries, which have all ended, become so many days older. */
async function age(accountId: number, days: number): Promise<void> {
  const by = `interval '${days} days'`;
  await read(
    `update delivery set queued_at = queued_at - ${by}, is_logged = true, ended_at = coalesce(ended_at, now()),
            state = case state when 'queued' then 'accepted' else state end
      where account_id = $1`,
    [accountId],
  );
  await read(`update event set occurred_at = occurred_at - ${by} where account_id = $1`, [accountId]);
}

test('who was told of a ticket or an alert that stays open for months is told of its end', async () => {
  const accountId = await store.account();
  const connectionId = await store.connection(accountId);
  const alertId = await writeAlerts(store.writer, { accountId, connectionId });
  const [{ ticket_id: ticketId = 0 } = {}] = await read<{ ticket_id: number }>(
    `insert into ticket (account_id, connection_id, check_id, category, title, severity, status, metric_line, remediation,
                         first_seen_at, last_seen_at)
     values ($1, $2, 'PG_TEST', 'schema', 'A title', 'critical', 'open', '', '', now(), now()) returning ticket_id`,
    [accountId, connectionId],
  );
  const ids = [await webhook(accountId, 'First'), await webhook(accountId, 'Second')];
  const kinds = ['ops.ticket_created', 'ops.ticket_resolved', 'alert.triggered', 'alert.resolved'];
  await read(
    `update destination set minimum_severity = 'critical', kinds = $2 where account_id = $1 and name in ('First', 'Second')`,
    [accountId, kinds],
  );
  const begun = (severity: 'critical' | 'warning') => [
    newEvent({ kind: 'ops.ticket_created', severity, ticketId }),
    newEvent({ severity, alertId }),
  ];
  await queue(store, accountId, [
    ...begun('critical'),
    ...begun('critical'),
    newEvent({ severity: 'critical' }),
  ]);
  const [first, second] = ids;
  await read(
    `update delivery set state = 'given_up', ended_at = now() where destination_id = $1 and sequence = 1`,
    [first],
  );
  await read('update destination set removed_at = now() where destination_id = $1', [second]);
  await age(accountId, 31);
  await prune();
  const left = () =>
    read<{ sequence: number; destination_id: number }>(
      `select destination_id, sequence from delivery
        where account_id = $1 and destination_id = any ($2) order by destination_id, sequence`,
      [accountId, ids],
    );
  // The first that was accepted; of a removed destination, none.
  expect(await left()).toEqual([2, 3].map((sequence) => ({ destination_id: first, sequence })));

  const ended = [
    newEvent({ kind: 'ops.ticket_resolved', ticketId }),
    newEvent({ kind: 'alert.resolved', alertId }),
    newEvent({ kind: 'ops.ticket_resolved', ticketId: ticketId + 1 }),
  ];
  await queue(store, accountId, ended);
  expect((await left()).map(({ sequence }) => sequence)).toEqual([2, 3, 6, 7]);
  await read(`update ticket set status = 'resolved', resolved_at = now() where account_id = $1`, [accountId]);
  await read(`update alert set state = 'resolved', resolved_at = now() where account_id = $1`, [accountId]);
  await age(accountId, 31);
  await prune();
  expect(await read('select from delivery where account_id = $1', [accountId])).toEqual([]);
  expect(await read('select from event where account_id = $1', [accountId])).toEqual([]);
});

test('a restored store pages nobody, and starts a new epoch', async () => {
  const accountId = await store.account();
  const [id, off] = [await webhook(accountId), await webhook(accountId, 'Off')];
  await store.writer.query(`update destination set state = 'disabled' where destination_id = $1`, [off]);
  await queue(store, accountId, [newEvent()]);
  const [before] = await stateOf(id);
  const client = await owner.connect();
  await pauseRestored(client);
  client.release();
  const [after] = await stateOf(id);
  expect(after).toMatchObject({ state: 'paused', queued: 0, last_sequence: 0, due_at: null });
  expect(after?.epoch).not.toBe(before?.epoch);
  expect(await stateOf(off)).toMatchObject([{ state: 'disabled', last_sequence: 0 }]);
  const [cancelled] = await listDeliveries(read, accountId, id, { limit: 1 });
  expect(cancelled).toMatchObject({ state: 'cancelled', reason: 'The store was restored from a backup.' });
  await queue(store, accountId, [newEvent()]);
  expect(await lease(id)).toEqual([]);
  const [next] = await listDeliveries(read, accountId, id, { limit: 1 });
  expect(next).toMatchObject({ sequence: 1, epoch: after?.epoch, state: 'queued' });
});
