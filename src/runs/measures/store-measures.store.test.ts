import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import type { SeriesValue } from '../../checks/measure.ts';
import { direct, runOnce } from '../../monitor/run-fixture.ts';
import { inTransaction, openPool } from '../../store/connect.ts';
import { readAs } from '../../store/read.ts';
import { listMeasures } from './list-measures.ts';
import { measure, newConnection } from './measures-fixture.ts';
import { readHistory } from './read-history.ts';
import { rollUp } from './roll-up.ts';
import { MAX_SERIES, type MeasuredConnection, prepareMeasures, storeMeasures } from './store-measures.ts';

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

/** Names of n series of the objects of a check. */
const objects = (count: number, from = 1) =>
  Array.from({ length: count }, (_, n) => measure('rows_count', n, { object: `t${from + n}` }));

const slotsOf = async ({ accountId }: MeasuredConnection) => {
  const { rows } = await store.writer.query<{ name: string; slot: number }>(
    `select concat_ws(' ', nullif(check_id, ''), metric, object) as name, slot from measure_series
      where account_id = $1 and slot is not null order by slot`,
    [accountId],
  );
  return new Map(rows.map(({ name, slot }) => [name, slot]));
};

test('a connection has 300 series: those of the server come first, and what is dropped is counted', async () => {
  const key = await newConnection(store);
  const others = [
    measure('vital_count', 1, { checkId: '', operator: null }),
    measure('server_count', 1),
    measure('database_count', 1, { database: 'shop' }),
  ];
  await storeRun(key, [...objects(400), ...others, ...objects(3)]);
  const slots = await slotsOf(key);
  expect([...slots].slice(0, 4)).toEqual([
    ['PG_TEST server_count', 1],
    ['vital_count', 2],
    ['PG_TEST database_count', 3],
    ['PG_TEST rows_count t1', 4],
  ]);
  expect(slots.size).toBe(MAX_SERIES);
  const latest = await latestOf(key);
  expect(latest).toMatchObject({ dropped: 103 });
  expect(latest?.measures).toHaveLength(MAX_SERIES);
  expect(latest?.measures[0]).toMatchObject({ check_id: 'PG_TEST', metric: 'server_count' });
  // A series with a slot keeps it, whatever comes later.
  await storeRun(key, [measure('later_count', 1), ...objects(297)]);
  expect(await slotsOf(key)).toEqual(slots);
  expect(await latestOf(key)).toMatchObject({ dropped: 1 });
});

test('a slot is free when its series was not measured for 8 days, and its history stays with its series', async () => {
  const key = await newConnection(store);
  await storeRun(key, [measure('old_count', 1), measure('kept_count', 2)]);
  const ids = [key.accountId, key.connectionId];
  const roll = async () => {
    for await (const _ of rollUp(store.writer));
  };
  const age = (table: string, column: string, days: number) =>
    store.writer.query(
      `update ${table} set ${column} = ${column} - $3 * interval '1 day' where account_id = $1 and connection_id = $2`,
      [...ids, days],
    );
  const days = async (count: number) => {
    await age('measure_series', 'last_seen_at', count);
    await age('measure_run', 'measured_at', count);
    await store.writer.query(
      `update measure_rolled set hours_to = hours_to - $3 * interval '1 day', days_to = days_to - $3::integer
        where account_id = $1 and connection_id = $2`,
      [...ids, count],
    );
    await roll();
  };
  await days(7);
  await storeRun(key, [measure('kept_count', 3), measure('new_count', 4)]);
  expect([...(await slotsOf(key))]).toEqual([
    ['PG_TEST old_count', 1],
    ['PG_TEST kept_count', 2],
    ['PG_TEST new_count', 3],
  ]);
  await days(2);
  await storeRun(key, [measure('kept_count', 3), measure('newer_count', 5)]);
  expect((await slotsOf(key)).get('PG_TEST newer_count')).toBe(1);
  const { rows } = await store.writer.query(
    'select series_id, last from measure_day where account_id = $1 order by 1',
    [key.accountId],
  );
  expect(rows.find(({ series_id }) => series_id === 1).last.at(-1)).toBe(1);
  expect(rows.map(({ series_id }) => series_id)).not.toContain(4);
  // After 13 months, series without any history are gone, except the newest: its number is not given again.
  const later = new Date(Date.now() + 450 * 86_400_000);
  for await (const _ of rollUp(store.writer, { now: later }));
  const { rows: left } = await store.writer.query(
    'select metric from measure_series where account_id = $1 order by series_id',
    [key.accountId],
  );
  expect(left.map(({ metric }) => metric)).toEqual(['newer_count']);
});

test('monitors that add series at the same time never give a slot twice', async () => {
  const key = await newConnection(store);
  const monitors = Array.from({ length: 8 }, (_, n) => [...objects(40), ...objects(20, 100 + 20 * n)]);
  const prepared = await Promise.all(monitors.map((own) => prepareMeasures(store.writer, key, own)));
  const places = new Map<number, string>();
  for (const { placed } of prepared) {
    expect(placed).toHaveLength(60);
    for (const { slot, seriesId, measure } of placed) {
      const place = `${seriesId} ${measure.object}`;
      expect(places.get(slot) ?? place).toBe(place);
      places.set(slot, place);
    }
  }
  expect(places.size).toBe(200);
});

test('numbers beyond the range of the history are stored as its largest, and no run fails', async () => {
  const key = await newConnection(store);
  const values = [
    1e308,
    -1e308,
    5e-324,
    -5e-324,
    -0,
    Number.MAX_SAFE_INTEGER,
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ];
  await storeRun(
    key,
    values.map((value, n) =>
      measure(`m${n}`, value, { warning: Number.NaN, critical: 1 / 0, limit: -1 / 0 }),
    ),
  );
  const latest = await latestOf(key);
  expect(latest?.measures.map(({ value }) => value)).toEqual(values.slice(0, 6).map((value) => value + 0));
  expect(latest?.measures[0]).toMatchObject({ warning: null, critical: null, limit: null });
  const history = await historyOf(key, [1, 2, 3, 4, 5, 6]);
  expect(history.map(({ last }) => last[0])).toEqual([3e38, -3e38, 0, 0, 0, 9.007199e15]);
});

test('a connection that is checked more often than once a minute keeps the last run of each minute', async () => {
  const [often, seldom] = [await newConnection(store), await newConnection(store)];
  for (const [key, every] of [
    [often, '10 s'],
    [seldom, '1 min'],
  ] as const) {
    await store.writer.query('insert into connection_schedule values ($1, $2, $3, now())', [
      key.accountId,
      key.connectionId,
      every,
    ]);
    const prepared = await prepareMeasures(store.writer, key, [measure('a_count', 1)]);
    for (const second of ['00:50', '01:00', '01:10', '01:59.999', '02:00']) {
      const at = `2026-03-01T10:${second}Z`;
      await inTransaction(store.writer, (client) => storeMeasures(client, { ...key, at }, prepared));
    }
  }
  const timesOf = async ({ accountId }: MeasuredConnection) => {
    const text = 'select measured_at from measure_run where account_id = $1 order by 1';
    const { rows } = await store.writer.query<{ measured_at: Date }>(text, [accountId]);
    return rows.map(({ measured_at }) => measured_at.toISOString().slice(14, 23));
  };
  expect(await timesOf(often)).toEqual(['00:50.000', '01:59.999', '02:00.000']);
  expect(await timesOf(seldom)).toHaveLength(5);
});

test('a run stores its measures at its time, and one that reaches nothing is a gap', async () => {
  const key = await store.watched();
  await runOnce(store, key);
  const first = await latestOf(key);
  expect(first?.measures.length).toBeGreaterThan(20);
  await store.set(key, direct(1));
  await runOnce(store, key);
  const { rows } = await store.writer.query(
    `select h.created_at = r.measured_at as same, cardinality(r.values) > 0 as measured
       from health_check h full join measure_run r on r.account_id = h.account_id and r.measured_at = h.created_at
      where coalesce(h.account_id, r.account_id) = $1 order by h.created_at`,
    [key.accountId],
  );
  expect(rows).toEqual([
    { same: true, measured: true },
    { same: true, measured: false },
  ]);
  expect(await latestOf(key)).toEqual(first);
  const [history] = await historyOf(key, [first?.measures[0]?.series_id ?? 0]);
  expect(history?.last).toEqual([expect.any(Number), null]);
});

test("nothing of measures raises the account's generation", async () => {
  const key = await newConnection(store);
  const generation = async () =>
    (await store.writer.query('select generation from account where account_id = $1', [key.accountId]))
      .rows[0];
  const before = await generation();
  for (const value of [1, 2]) await storeRun(key, [measure('a_count', value), ...objects(value)]);
  await store.writer.query(
    `update measure_rolled set hours_to = hours_to - interval '3 days', days_to = days_to - 3 where account_id = $1`,
    [key.accountId],
  );
  for await (const _ of rollUp(store.writer));
  await historyOf(key, [1]);
  expect(await generation()).toEqual(before);
  await store.writer.query(`update connection set name = 'changed' where account_id = $1`, [key.accountId]);
  expect(await generation()).not.toEqual(before); // that is how a change would show
});
