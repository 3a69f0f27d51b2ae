import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { addTo, newEvent, queue, runDispatcher, startReceiver } from '../dispatch/dispatcher-fixture.ts';

let store: TestStore;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let dispatcher: { stop(): Promise<void> };

beforeAll(async () => {
  store = await startTestStore();
  receiver = await startReceiver();
  dispatcher = runDispatcher(store);
});
afterAll(async () => {
  await dispatcher?.stop();
  await receiver?.stop();
  await store?.stop();
});

const titled = (title: string, alertId: number, given = {}) => {
  const event = newEvent({ alertId, ...given });
  return { ...event, details: { ...event.details, title } };
};

/** Lets so much time pass for what is queued. */
async function pass(accountId: number, interval: string): Promise<void> {
  await store.writer.query(
    `update delivery set due_at = due_at - $2::interval, queued_at = queued_at - $2::interval
      where account_id = $1 and state = 'queued'`,
    [accountId, interval],
  );
  await store.writer.query('update destination_queue set due_at = now() where account_id = $1', [accountId]);
}

test('at night only what is critical is sent, and in the morning the rest comes as one message', async () => {
  const accountId = await store.account();
  const time = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
  const quietHours = { from: time(-1), to: time(1), time_zone: 'Etc/UTC' };
  await addTo(store, accountId, { name: 'C', channel: 'slack', url: `${receiver.url}/chat`, quietHours });
  await addTo(store, accountId, { name: 'W', channel: 'webhook', url: `${receiver.url}/hook`, quietHours });
  await queue(store, accountId, [titled('Rule one', 1), titled('Rule two', 2)]);
  await queue(store, accountId, [titled('Server gone', 3, { severity: 'critical' })]);
  await queue(store, accountId, [titled('Rule one', 1, { kind: 'alert.resolved', severity: 'warning' })]);

  await pass(accountId, '31 s');
  const [atNight] = await receiver.requests('/chat', 1);
  expect(atNight?.body).toContain('Server gone');
  expect(atNight?.body).not.toMatch(/Rule (?:one|two)/);
  expect((await receiver.requests('/hook', 1)).map(({ headers }) => headers['dbvitals-sequence'])).toEqual([
    '3',
  ]);

  await pass(accountId, '1 hour');
  const [, inTheMorning] = await receiver.requests('/chat', 2);
  expect(inTheMorning?.body).toMatch(/Rule one/);
  expect(inTheMorning?.body).toMatch(/Rule two/);
  expect(inTheMorning?.body).not.toContain('Server gone');
  const hooks = await receiver.requests('/hook', 4);
  expect(hooks.map(({ headers }) => Number(headers['dbvitals-sequence'])).sort()).toEqual([1, 2, 3, 4]);
  expect(receiver.got.filter(({ path }) => path === '/chat')).toHaveLength(2);
});
