import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { inTransaction } from '../../store/connect.ts';
import { within } from '../../store/read.ts';
import { listMeasures } from './list-measures.ts';
import { storeForecasts } from './store-forecasts.ts';

const DAY_S = 86_400;
/** A midnight, UTC: the hours end here. */
const NOW = 1_800_057_600;

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

interface Key {
  accountId: number;
  connectionId: number;
}

async function newConnection(): Promise<Key> {
  const accountId = await store.account();
  return { accountId, connectionId: await store.connection(accountId) };
}

/** Adds a series with 20 days of hours: `value` of the hours since the first. */
async function addSeries(
  { accountId, connectionId }: Key,
  seriesId: number,
  value: (hour: number) => number | null,
  grows = true,
): Promise<void> {
  await store.writer.query(
    `insert into measure_series (account_id, connection_id, series_id, slot, check_id, metric, database, last_seen_at, grows)
     values ($1, $2, $3::int, $3::int, 'PG_TEST', format('test_%s_ratio', $3::int), '', to_timestamp($4), $5)`,
    [accountId, connectionId, seriesId, NOW, grows],
  );
  for (let day = 0; day < 20; day++) {
    await store.writer.query(
      `insert into measure_hour (account_id, connection_id, series_id, day, last)
       values ($1, $2, $3, to_timestamp($4)::date, $5)`,
      [
        accountId,
        connectionId,
        seriesId,
        NOW - (20 - day) * DAY_S,
        Array.from({ length: 24 }, (_, hour) => value(day * 24 + hour)),
      ],
    );
  }
}

async function setLatest({ accountId, connectionId }: Key, limits: (number | null)[]): Promise<void> {
  const none = limits.map(() => null);
  await store.writer.query(
    `insert into measure_latest (account_id, connection_id, measured_at, series_ids, values, operators, warnings, criticals, limits)
     values ($1, $2, to_timestamp($3), $4, $5, $6, $7, $7, $8)`,
    [accountId, connectionId, NOW, limits.map((_, n) => n + 1), limits.map(() => 0.5), none, none, limits],
  );
}

const computeForecasts = async ({ accountId, connectionId }: Key) =>
  (
    await inTransaction(store.writer, (client) => listMeasures(within(client), accountId, connectionId))
  )?.measures.map(({ forecast }) => forecast);

test('growing series are forecast to their limit, and only they', async () => {
  const key = await newConnection();
  const other = await newConnection();
  await addSeries(key, 1, (hour) => 0.4 + hour / 4_800);
  await addSeries(key, 2, (hour) => 1e9 + hour * 1e6);
  await addSeries(key, 3, (hour) => 0.4 + hour / 4_800, false);
  await addSeries(key, 4, (hour) => (hour % 3 === 0 ? null : 0.4));
  await setLatest(key, [1, null, 1, 1]);
  await addSeries(other, 1, (hour) => 0.4 + hour / 4_800);
  await setLatest(other, [1]);
  await storeForecasts(store.writer, key, NOW);
  const [full, growing, ...rest] = (await computeForecasts(key)) ?? [];
  expect(full?.per_day).toBeCloseTo(0.005);
  expect((Date.parse(full?.full_at ?? '') / 1_000 - NOW) / DAY_S).toBeCloseTo(100, 0);
  expect(growing).toMatchObject({ per_day: expect.closeTo(24e6, -3), full_at: null, full_latest: null });
  expect(rest).toEqual([null, null]);
  expect(await computeForecasts(other)).toEqual([null]);
});

test('a forecast is replaced by the next one, and removed when the series does not grow any more', async () => {
  const key = await newConnection();
  await addSeries(key, 1, (hour) => 0.4 + hour / 4_800);
  await addSeries(key, 2, (hour) => 0.1 + hour / 4_800);
  await setLatest(key, [1, 1]);
  await storeForecasts(store.writer, key, NOW);
  const first = (await computeForecasts(key)) ?? [];
  await store.writer.query('update measure_latest set limits = array[0.8, 1] where connection_id = $1', [
    key.connectionId,
  ]);
  await store.writer.query(
    'update measure_hour set last = array[0.2] where connection_id = $1 and series_id = 2',
    [key.connectionId],
  );
  await storeForecasts(store.writer, key, NOW);
  const second = (await computeForecasts(key)) ?? [];
  expect(first).toEqual([expect.anything(), expect.anything()]);
  expect(Date.parse(second[0]?.full_at ?? '')).toBeLessThan(Date.parse(first[0]?.full_at ?? ''));
  expect(second[1]).toBeNull();
  await storeForecasts(store.writer, key, NOW + 30 * DAY_S);
  expect(await computeForecasts(key)).toEqual([null, null]);
});
