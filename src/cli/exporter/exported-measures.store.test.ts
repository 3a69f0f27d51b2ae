import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { measure, newConnection } from '../../runs/measures/measures-fixture.ts';
import { type MeasuredConnection, prepareMeasures } from '../../runs/measures/store-measures.ts';
import { openPool } from '../../store/connect.ts';
import { exportMeasures } from './exported-measures.ts';

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

type Values = Parameters<typeof prepareMeasures>[2];

/** Stores the values of a run so many seconds ago, of a connection that is checked every 10 minutes. */
async function setLatest(key: MeasuredConnection, values: Values, secondsAgo = 60): Promise<void> {
  const { placed } = await prepareMeasures(store.writer, key, values);
  const none = placed.map(() => null);
  await store.writer.query(
    `insert into measure_latest (account_id, connection_id, measured_at, series_ids, values, operators, warnings, criticals, limits)
     values ($1, $2, now() - make_interval(secs => $3), $4, $5, $6, $7, $8, $9)`,
    [
      key.accountId,
      key.connectionId,
      secondsAgo,
      placed.map(({ seriesId }) => seriesId),
      placed.map((one) => one.measure.value),
      none,
      none,
      none,
      none,
    ],
  );
  await store.writer.query(
    `insert into connection_schedule (account_id, connection_id, every, due_at) values ($1, $2, '10 min', now())
     on conflict (account_id, connection_id) do update set every = excluded.every`,
    [key.accountId, key.connectionId],
  );
}

const scrape = ({ accountId }: MeasuredConnection) => exportMeasures(reader, accountId).scrape();
const valuesIn = (text: string) => text.split('\n').filter((line) => line.startsWith('dbvitals_measure{'));

test('the text has each latest value of the account, and nothing of another account', async () => {
  const [key, other] = [await newConnection(store), await newConnection(store)];
  await setLatest(key, [
    measure('connections_used_ratio', 0.1 + 0.2, { checkId: 'PG_CONN_SATURATION' }),
    measure('database_bytes', 1e21, { checkId: '', database: 'shop' }),
  ]);
  await setLatest(other, [measure('secret_count', 4_711)]);
  const text = await scrape(key);
  const { rows } = await store.writer.query('select name from connection where connection_id = $1', [
    key.connectionId,
  ]);
  const own = `connection_id="${key.connectionId}",connection="${rows[0].name}"`;
  expect(valuesIn(text)).toEqual([
    `dbvitals_measure{${own},check_id="PG_CONN_SATURATION",metric="connections_used_ratio",database="",object=""} 0.30000000000000004`,
    `dbvitals_measure{${own},check_id="",metric="database_bytes",database="shop",object=""} 1e+21`,
  ]);
  expect(text).toMatch(RegExp(`^dbvitals_measured_timestamp_seconds\\{${own}\\} \\d+`, 'm'));
  expect(text).toMatch(/^dbvitals_measures_left_out 0$/m);
  expect(text).not.toMatch(/secret_count|4711/);
});

test('values older than three intervals are left out, and their time stays', async () => {
  const [fresh, stale] = [await newConnection(store), await newConnection(store)];
  await setLatest(fresh, [measure('a_ratio', 1)], 29 * 60);
  await setLatest(stale, [measure('a_ratio', 1)], 31 * 60);
  expect(valuesIn(await scrape(fresh))).toHaveLength(1);
  const text = await scrape(stale);
  expect(valuesIn(text)).toEqual([]);
  expect(text).toMatch(/^dbvitals_measured_timestamp_seconds\{.+\} \d+/m);
});

test('names of the monitored server are escaped, and long ones are cut without becoming equal', async () => {
  const key = await newConnection(store);
  const long = 'x'.repeat(300);
  await setLatest(key, [
    measure('a_ratio', 1, { object: 'a"} 1\nevil{b="\\' }),
    measure('a_ratio', 2, { object: `${long}1` }),
    measure('a_ratio', 3, { object: `${long}2` }),
  ]);
  const lines = valuesIn(await scrape(key));
  const objects = lines.map((line) => /object="(.*)"\} \d$/.exec(line)?.[1]);
  expect(objects).toContain('a\\"} 1\\nevil{b=\\"\\\\');
  expect(new Set(objects).size).toBe(3);
  expect(Math.max(...objects.map((object) => object?.length ?? 0))).toBeLessThan(220);
});

test('a removed connection is left out, and an account that does not exist is an error', async () => {
  const key = await newConnection(store);
  await setLatest(key, [measure('a_ratio', 1)]);
  await store.writer.query('update connection set removed_at = now() where connection_id = $1', [
    key.connectionId,
  ]);
  expect(await scrape(key)).not.toContain('connection_id=');
  await expect(exportMeasures(reader, 987_654).scrape()).rejects.toThrow('There is no account 987654.');
});
