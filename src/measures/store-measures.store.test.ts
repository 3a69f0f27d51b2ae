import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/store.ts';
import { changeAccount } from '../activity/record-entry.ts';
import type { SeriesValue } from '../checks/measure.ts';
import { openPool } from '../database/connect.ts';
import { readAs } from '../database/read.ts';
import { listMeasures } from './list-measures.ts';
import { measure, newConnection } from './measures-fixture.ts';
import { type MeasuredConnection, prepareMeasures } from './prepare-measures.ts';
import { readHistory } from './read-history.ts';
import { storeMeasures } from './store-measures.ts';

let store: TestStore;
let reader: ReturnType<typeof openPool>;

beforeAll(async () => {
  store = await startTestStore();
  reader = openPool(store.address, 'console', { max: 2, pipeline: true });
});
afterAll(async () => {
  await reader.end();
  await store.stop();
});

async function storeRun(key: MeasuredConnection, measures: SeriesValue[]): Promise<void> {
  const prepared = await prepareMeasures(store.writer, key, measures);
  await changeAccount(store.writer, key.accountId, ({ client, at }) =>
    storeMeasures(client, { ...key, at }, prepared),
  );
}

const latestOf = async ({ accountId, connectionId }: MeasuredConnection) =>
  (await readAs(reader, accountId, (read) => listMeasures(read, accountId, connectionId))).result;

const historyOf = async ({ accountId, connectionId }: MeasuredConnection, series: number[], hours = 1) => {
  const range = { series, from: new Date(Date.now() - hours * 3_600_000), to: new Date() };
  return (await readAs(reader, accountId, (read) => readHistory(read, accountId, connectionId, range)))
    .result;
};

test('the latest values are exact, and the history has one value for each run', async () => {
  const key = await newConnection(store);
  expect(await latestOf(key)).toBeNull();
  await storeRun(key, [
    measure('a_ratio', 0.1),
    measure('b_bytes', 2 ** 53 - 1, { limit: 2 ** 60, grows: true }),
  ]);
  await storeRun(key, [measure('a_ratio', 1 / 3)]);
  const latest = await latestOf(key);
  expect(latest).toMatchObject({ dropped: 0, measures: [{ series_id: 1, value: 1 / 3, forecast: null }] });
  const [a, b] = await historyOf(key, [1, 2]);
  expect(a).toMatchObject({
    resolution: 'run',
    last: [Math.fround(0.1), Math.fround(1 / 3)].map((n) => Number(n.toPrecision(8))),
  });
  expect(b?.last).toEqual([9.007199e15, null]);
});
