import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import type { Rounds } from '../../platform/rounds.ts';
import { changeDestination } from '../destinations/change-destination.ts';
import { addTo, firstRow, runDispatcher, startReceiver } from '../dispatch/dispatcher-fixture.ts';
import { startCollector } from './hec-fixture.ts';
import { idsUpTo, waitForDelivery, waitForFailure, writeEntries } from './stream-fixture.ts';

let store: TestStore;
let dispatcher: Rounds;
const started: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  store = await startTestStore();
  dispatcher = runDispatcher(store);
});

afterEach(() => Promise.all(started.splice(0).map((each) => each.stop())));

afterAll(async () => {
  await dispatcher.stop();
  await store.stop();
});

async function collectorOf(acknowledges: boolean) {
  const collector = await startCollector({ acknowledges, token: 'b0221cd8-c4b4-465a-9a3c-273e3a75aa29' });
  started.push(collector);
  return collector;
}

const addStream = (accountId: number, url: string, authorization: string) =>
  addTo(store, accountId, {
    name: 'Splunk',
    channel: 'splunk_hec',
    url,
    authorization,
    stream: { fromId: 1 },
  });

test('each batch is sent once, and the next one only after the indexer acknowledged it', async () => {
  const accountId = await store.account();
  const collector = await collectorOf(true);
  collector.state.busy = 2;
  await writeEntries(store, accountId, 1_100);
  const id = await addStream(accountId, collector.url, collector.state.token);
  const newest = await writeEntries(store, accountId, 1);
  await waitForDelivery(store, id, newest);
  expect(collector.indexed.map(({ event }) => event.id)).toEqual(idsUpTo(newest));
  expect(collector.state.overtaken).toBe(0);
  expect(collector.indexed[0]?.fields).toMatchObject({
    entry_id: 1,
    account: accountId,
    first_id: 1,
    last_id: 500,
  });
  await firstRow(
    store,
    "select 1 as there from destination_queue where destination_id = $1 and last_result = '200 OK, indexed'",
    [id],
  );
});

test('a token without acknowledgement is asked for none', async () => {
  const accountId = await store.account();
  const collector = await collectorOf(false);
  const newest = await writeEntries(store, accountId, 40);
  const id = await addStream(
    accountId,
    `${collector.url}/services/collector`,
    `Splunk ${collector.state.token}`,
  );
  await waitForDelivery(store, id, newest);
  expect(collector.got.filter(({ path }) => path.includes('/ack'))).toEqual([]);
  expect(collector.indexed.map(({ event }) => event.id).slice(0, newest)).toEqual(idsUpTo(newest));
});

test('a new token is tried at once, however long the stream would have waited', async () => {
  const accountId = await store.account();
  const collector = await collectorOf(true);
  const newest = await writeEntries(store, accountId, 3);
  const id = await addStream(accountId, collector.url, 'expired');
  await waitForFailure(store, id, '403%');
  await store.writer.query(
    "update log_stream set due_at = now() + interval '1 day' where destination_id = $1",
    [id],
  );
  await changeAccount(store.writer, accountId, (change) =>
    changeDestination(change, store.deps.secret, { allowPrivate: true }, id, {
      authorization: collector.state.token,
    }),
  );
  await waitForDelivery(store, id, newest);
  expect(collector.indexed.map(({ event }) => event.id).slice(0, newest)).toEqual(idsUpTo(newest));
});

test.each(['splunk_hec', 'otlp_logs', 'elastic'] as const)(
  'a sign-in page that answers 200 is no receiver: nothing of %s counts as delivered',
  async (channel) => {
    const accountId = await store.account();
    const page = await startReceiver(
      () => 200,
      () => '<!doctype html><title>Sign in</title>',
    );
    started.push(page);
    const authorization = channel === 'otlp_logs' ? {} : { authorization: 'token' };
    const id = await addTo(store, accountId, {
      name: 'Portal',
      channel,
      url: `${page.url}/logs`,
      stream: { fromId: 1 },
      ...authorization,
    });
    await waitForFailure(store, id, '200 OK, but this is no answer of%');
    const [row] = (await store.writer.query('select next_id from log_stream where destination_id = $1', [id]))
      .rows;
    expect(row).toEqual({ next_id: 1 });
  },
);
