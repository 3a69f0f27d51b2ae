import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import type { Rounds } from '../../platform/rounds.ts';
import { testDestination } from '../destinations/test-destination.ts';
import { addTo, rowsOf, runDispatcher } from '../dispatch/dispatcher-fixture.ts';
import { startElastic } from './elastic-fixture.ts';
import { idsUpTo, tryAgain, waitForDelivery, waitForFailure, writeEntries } from './stream-fixture.ts';
import type { StreamFormat } from './stream-input.ts';

const KEY = 'VnVhQ2ZHY0JDZGJrU';

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

async function startCluster() {
  const elastic = await startElastic({ key: KEY });
  started.push(elastic);
  return elastic;
}

const addStream = (accountId: number, url: string, format: StreamFormat = 'ecs', authorization = KEY) =>
  addTo(store, accountId, {
    name: `Elastic ${authorization}`,
    channel: 'elastic',
    url: `${url}/logs-dbvitals.activity-default`,
    authorization,
    stream: { fromId: 1, format },
  });

const sequences = (documents: ReadonlyMap<string, Record<string, unknown>>) =>
  [...documents.values()].map(({ event }) => (event as { sequence: number }).sequence);

test('an answer of 200 with rejected documents is a failure, and every document is there once in the end', async () => {
  const accountId = await store.account();
  const elastic = await startCluster();
  elastic.state.rejected.documents = 30;
  await writeEntries(store, accountId, 1_100);
  const id = await addStream(accountId, elastic.url);
  const newest = await writeEntries(store, accountId, 1);
  await waitForFailure(
    store,
    id,
    '200 OK, but Elasticsearch rejected entries (es_rejected_execution_exception)',
  );
  expect(await rowsOf(store, 'select next_id from log_stream where destination_id = $1', [id])).toEqual([
    { next_id: 1 },
  ]);
  const hasten = setInterval(() => tryAgain(store, id), 100);
  onTestFinished(() => clearInterval(hasten));
  await waitForDelivery(store, id, newest);
  expect(sequences(elastic.documents).toSorted((a, b) => a - b)).toEqual(idsUpTo(newest));
  expect(elastic.state.conflicts).toBeGreaterThan(0);
});

test('a batch whose answer was lost is known as stored, however long the answer to the next attempt is', async () => {
  const accountId = await store.account();
  const elastic = await startCluster();
  elastic.state.lost = 1;
  await writeEntries(store, accountId, 600);
  const id = await addStream(accountId, elastic.url);
  const newest = await writeEntries(store, accountId, 1);
  await waitForFailure(store, id, '502%');
  await tryAgain(store, id);
  await waitForDelivery(store, id, newest);
  expect(sequences(elastic.documents)).toEqual(idsUpTo(newest));
  expect(elastic.state.conflicts).toBeGreaterThanOrEqual(500);
});

test.each(['native', 'ocsf'] as const)(
  'entries as %s have the time that a data stream wants',
  async (format) => {
    const accountId = await store.account();
    const elastic = await startCluster();
    const newest = await writeEntries(store, accountId, 3);
    const id = await addStream(accountId, elastic.url, format, `ApiKey ${KEY}`);
    await waitForDelivery(store, id, newest);
    expect(elastic.documents.size).toBeGreaterThanOrEqual(newest);
  },
);

test('a test is one document, however often it is sent; a wrong key is told', async () => {
  const accountId = await store.account();
  const elastic = await startCluster();
  const id = await addStream(accountId, elastic.url);
  await waitForDelivery(store, id, await writeEntries(store, accountId, 1));
  const before = elastic.documents.size;
  const send = () =>
    testDestination((work) => changeAccount(store.writer, accountId, work), store.writer, id);
  for (let n = 0; n < 2; n += 1) expect(await send()).toMatchObject({ accepted: true, status: 200 });
  const tests = [...elastic.documents.keys()].filter((key) => key.startsWith('0-test-'));
  expect(tests).toHaveLength(1);
  expect(elastic.documents.size).toBeLessThanOrEqual(before + 3);
  const other = await addStream(accountId, elastic.url, 'ecs', 'wrong');
  await waitForFailure(store, other, '401%');
});
