import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeHistory } from '../../../test/support/console-history.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { ConnectionHistory, ConnectionMeasures } from './measure-schemas.ts';

let store: TestStore;
let testConsole: TestConsole;

beforeAll(async () => {
  store = await startTestStore();
  testConsole = await openTestConsole(store);
});
afterAll(async () => {
  await testConsole.close();
  await store.stop();
});

/** An owner with a connection that has measured `value`. */
async function ownerWith(value: number) {
  const owner = await testConsole.owner();
  const connection = await store.connection(owner.accountId);
  await writeHistory(store.writer, { accountId: owner.accountId, connectionId: connection }, value);
  return { ...owner, connection };
}

const notFound = [404, 'not_found', expect.any(String), undefined];
const invalid = (parameter: string, message: string) => [400, 'invalid_parameter', message, parameter];
const wrongSeries = invalid('series', 'series must be 1 to 12 numbers of series, separated by commas.');

test('the latest values have titles and units for members', async () => {
  const { connection, read } = await ownerWith(0.75);
  const { measured_at, dropped, measures } = await read<ConnectionMeasures>(
    `/connections/${connection}/measures`,
  );
  expect([new Date(measured_at ?? 0).getTime() > Date.now() - 60_000, dropped]).toEqual([true, 0]);
  const growth = { per_day: 0.75, per_day_low: 0.75, per_day_high: 0.75 };
  expect(measures.find(({ check_id }) => check_id === '')).toEqual({
    series_id: expect.any(Number),
    check_id: '',
    metric: 'transactions_per_second',
    title: 'Transactions',
    unit: 'per_second',
    database: '',
    object: null,
    value: 0.75,
    operator: null,
    warning: null,
    critical: null,
    limit: null,
    forecast: { ...growth, full_at: null, full_earliest: null, full_latest: null },
  });
  expect(measures.find(({ check_id }) => check_id !== '')).toMatchObject({
    check_id: 'PG_CONN_SATURATION',
    title: 'Connections nearly used up',
    unit: 'ratio',
    operator: '>=',
    warning: 0.8,
    critical: 0.9,
  });
});

test('before the first run there is nothing', async () => {
  const { accountId, read } = await testConsole.owner();
  const connection = await store.connection(accountId);
  const nothing = { measured_at: null, dropped: 0, measures: [] };
  expect(await read(`/connections/${connection}/measures`)).toEqual(nothing);
  const { series } = await read<ConnectionHistory>(`/connections/${connection}/history?series=1`);
  expect(series.flatMap(({ last }) => last)).toEqual([]);
});

test('a history has the requested series, at the resolution of its range', async () => {
  const { connection, read } = await ownerWith(4);
  const path = `/connections/${connection}/history`;
  const day = await read<ConnectionHistory>(`${path}?series=2,1`);
  expect(day.series).toMatchObject([
    { series_id: 2, resolution: 'run', last: [2, 4] },
    { series_id: 1, resolution: 'run', last: [2, 4] },
  ]);
  expect(Date.parse(day.to) - Date.parse(day.from)).toBe(86_400_000);
  const from = new Date(Date.now() - 20 * 86_400_000).toISOString();
  const { series } = await read<ConnectionHistory>(`${path}?series=1&from=${from}`);
  expect(series).toMatchObject([{ series_id: 1, resolution: 'hour' }]);
  expect(series[0]?.last.filter((value) => value === 4).length).toBeGreaterThan(24 * 4);
  expect(series[0]?.maximum).toHaveLength(series[0]?.last.length ?? 0);
});

test('a request for no series, too many, or an impossible range gets a sentence', async () => {
  const { connection, refused } = await ownerWith(1);
  const path = `/connections/${connection}/history`;
  expect(await refused(path)).toEqual(wrongSeries);
  expect(await refused(`${path}?series=${Array.from({ length: 13 }, (_, n) => n + 1).join()}`)).toEqual(
    wrongSeries,
  );
  expect(await refused(`${path}?series=1,x`)).toEqual(wrongSeries);
  const order = 'from must be earlier than to, which is now if you leave it out.';
  expect(await refused(`${path}?series=1&from=2090-01-01`)).toEqual(invalid('from', order));
  expect(await refused(`${path}?series=1&from=2026-01-02&to=2026-01-01`)).toEqual(
    invalid('from', 'from must not be later than to.'),
  );
  expect(await refused(`${path}?series=1&from=2020-01-01`)).toEqual(
    invalid('from', 'Choose a range of at most 13 months (400 days).'),
  );
  expect(await refused(`${path}?series=1&to=yesterday`)).toEqual(
    invalid('to', 'to must be a date (2026-01-31) or an RFC 3339 date-time (2026-01-31T23:59:59Z).'),
  );
});

test('a connection of another account, or one that was removed, does not exist', async () => {
  const { accountId, connection, refused } = await ownerWith(1);
  const other = await ownerWith(2);
  for (const route of ['measures', 'history?series=1']) {
    expect(await refused(`/connections/${other.connection}/${route}`)).toEqual(notFound);
  }
  await store.writer.query(
    'update connection set removed_at = now() where account_id = $1 and connection_id = $2',
    [accountId, connection],
  );
  for (const route of ['measures', 'history?series=1']) {
    expect(await refused(`/connections/${connection}/${route}`)).toEqual(notFound);
  }
});
