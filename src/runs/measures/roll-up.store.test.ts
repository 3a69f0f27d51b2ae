import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openPool } from '../../store/connect.ts';
import { newConnection, writeRuns } from './measures-fixture.ts';
import { rollUp } from './roll-up.ts';
import type { MeasuredConnection } from './store-measures.ts';

let store: TestStore;
let root: pg.Client;

beforeAll(async () => {
  store = await startTestStore({ fsync: 'off' });
  root = await store.superuser('store');
});
afterAll(() => store.stop());

const TABLES = [
  'measure_series',
  'measure_run',
  'measure_five_minutes',
  'measure_hour',
  'measure_day',
  'measure_rolled',
];

/** The rows of a connection in every table that a round writes. */
async function rowsOf({ accountId, connectionId }: MeasuredConnection): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {};
  for (const table of TABLES) {
    const { rows } = await root.query<{ row: string }>(
      `select (to_jsonb(t) - 'account_id' - 'connection_id' - 'last_seen_at')::text as row from ${table} t
        where account_id = $1 and connection_id = $2 order by 1`,
      [accountId, connectionId],
    );
    all[table] = rows.map(({ row }) => row);
  }
  return all;
}

async function rollAll(pool: pg.Pool, now: Date): Promise<number> {
  let steps = 0;
  for await (const _ of rollUp(pool, { now })) steps += 1;
  return steps;
}

const at = (text: string) => new Date(`${text}Z`);
const HOUR = 3_600_000;

/** A generator of the same numbers for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Runs at odd times, with gaps, by default of three days over the end of a month: noisy, steady and rare values. */
function randomRuns(
  random: () => number,
  { from = at('2026-02-27T09:13:00'), to = at('2026-03-02T05:10:00'), longestGap = 30 * HOUR } = {},
) {
  const runs: { at: Date; values: (number | null)[] }[] = [];
  for (let time = from.getTime(); time < to.getTime(); time += 20_000 + random() * 600_000) {
    if (random() < 0.01) time += random() * longestGap;
    const values = [random() * 1e6, 7, random() < 0.1 ? random() : null, -random() / 3, Math.round(random())];
    runs.push({ at: new Date(time), values: random() < 0.05 ? [] : values });
  }
  return runs;
}

test('hours and days have the minimum, maximum, mean and last value, and gaps where nothing was measured', async () => {
  const key = await newConnection(store);
  await writeRuns(store, key, [
    { at: at('2026-01-31T22:10:00'), values: [1, 5] },
    { at: at('2026-01-31T22:50:00'), values: [4, 5] },
    { at: at('2026-02-01T01:00:00'), values: [2, 5, 9] },
    { at: at('2026-02-01T01:30:00'), values: [1, 5, null] },
    { at: at('2026-02-01T03:59:59'), values: [null, 5] },
    { at: at('2026-02-01T04:00:00'), values: [8, 5] },
  ]);
  await rollAll(store.writer, at('2026-02-01T04:01:00')); // too early for the hour before
  expect((await rowsOf(key))['measure_rolled']?.[0]).toContain('"hours_to": "2026-02-01T03:00:00+00:00"');
  await rollAll(store.writer, at('2026-02-02T04:02:00'));
  const { rows: hours } = await root.query(
    `select series_id, day::text, minimum, maximum, mean, last from measure_hour
      where account_id = $1 order by series_id, day`,
    [key.accountId],
  );
  const gap = (hours: number) => new Array(hours).fill(null);
  const steady = { minimum: null, maximum: null, mean: null };
  expect(hours).toEqual([
    {
      series_id: 1,
      day: '2026-01-31',
      minimum: [...gap(22), 1],
      maximum: null,
      mean: [...gap(22), 2.5],
      last: [...gap(22), 4],
    },
    {
      series_id: 1,
      day: '2026-02-01',
      minimum: null,
      maximum: [null, 2, null, null, 8],
      mean: [null, 1.5, null, null, 8],
      last: [null, 1, null, null, 8],
    },
    { series_id: 2, day: '2026-01-31', ...steady, last: [...gap(22), 5] },
    { series_id: 2, day: '2026-02-01', ...steady, last: [null, 5, null, 5, 5] },
    { series_id: 3, day: '2026-02-01', ...steady, last: [null, 9] },
  ]);
  const { rows: days } = await root.query(
    `select series_id, month::text, minimum, maximum, mean, last from measure_day
      where account_id = $1 order by series_id, month`,
    [key.accountId],
  );
  expect(days).toEqual([
    {
      series_id: 1,
      month: '2026-01-01',
      minimum: [...gap(30), 1],
      maximum: null,
      mean: [...gap(30), 2.5],
      last: [...gap(30), 4],
    },
    { series_id: 1, month: '2026-02-01', minimum: [1], maximum: null, mean: [4.75], last: [8] },
    { series_id: 2, month: '2026-01-01', ...steady, last: [...gap(30), 5] },
    { series_id: 2, month: '2026-02-01', ...steady, last: [5] },
    { series_id: 3, month: '2026-02-01', ...steady, last: [9] },
  ]);
});

test('a day whose hours are rolled up one at a time is equal to one that is rolled up at once', async () => {
  const runs = randomRuns(randomOf(1));
  const [once, hourly] = [await newConnection(store), await newConnection(store)];
  await writeRuns(store, once, runs);
  const end = at('2026-03-02T05:30:00');
  await rollAll(store.writer, end);
  await writeRuns(store, hourly, runs);
  for (let now = at('2026-02-27T09:30:00'); now <= end; now = new Date(now.getTime() + HOUR)) {
    await rollAll(store.writer, now);
  }
  expect(await rowsOf(hourly)).toEqual(await rowsOf(once));
  expect((await rowsOf(once))['measure_hour']?.length).toBeGreaterThan(10);
});

interface BreakingPool {
  pool: pg.Pool;
  /** Ends the session at the statement with this number from now on: just before it is sent, or while it runs. */
  breakAt(statement: number): void;
  /** How many statements were sent since then. */
  sent(): number;
}

function openBreakingPool(random: () => number): BreakingPool {
  const pool = openPool(store.address, 'writer', { max: 1 });
  let [sent, breaking] = [0, 0];
  pool.on('connect', (client: pg.PoolClient & { processID?: number }) => {
    client.on('error', () => {});
    const query = client.query.bind(client) as (...of: unknown[]) => Promise<unknown>;
    const end = () => root.query('select pg_terminate_backend($1)', [client.processID]);
    const breakable = async (...of: unknown[]) => {
      sent += 1;
      if (sent !== breaking) return query(...of);
      const isBefore = random() < 0.5;
      if (isBefore) await end();
      const answer = query(...of);
      answer.catch(() => {}); // it may fail before the session's end is known
      if (!isBefore) await end();
      return answer;
    };
    client.query = breakable as typeof client.query;
  });
  return {
    pool,
    breakAt(statement) {
      [sent, breaking] = [0, statement];
    },
    sent: () => sent,
  };
}

test('a round that is killed at any statement, again and again, gives the values of one that is not', async () => {
  const random = randomOf(2);
  const [from, to] = [at('2026-02-28T19:20:00'), at('2026-03-01T02:40:00')];
  const runs = randomRuns(random, { from, to, longestGap: HOUR });
  const end = at('2026-03-02T05:30:00');
  const whole = await newConnection(store);
  await writeRuns(store, whole, runs);
  const { pool, breakAt, sent } = openBreakingPool(random);
  breakAt(0);
  await rollAll(pool, end);
  const expected = await rowsOf(whole);
  const statements = sent();
  expect(statements).toBeGreaterThan(30);
  let kills = 0;
  const rollBroken = (statement: number) => {
    breakAt(statement);
    return rollAll(pool, end).catch(() => {
      kills += 1;
    });
  };
  for (let statement = 1; statement <= statements; statement += 1) {
    const key = await newConnection(store);
    await writeRuns(store, key, runs);
    await rollBroken(statement);
    await rollBroken(1 + Math.floor(random() * statements));
    await rollBroken(1 + Math.floor((random() * statements) / 3));
    breakAt(0);
    await rollAll(pool, end);
    expect(await rowsOf(key), `killed at statement ${statement}`).toEqual(expected);
  }
  expect(kills).toBeGreaterThan(statements);
  await pool.end();
});

test('several rounds at once give the values of one', async () => {
  const runs = randomRuns(randomOf(3));
  const end = at('2026-03-02T05:30:00');
  const alone = await newConnection(store);
  await writeRuns(store, alone, runs);
  await rollAll(store.writer, end);
  const expected = await rowsOf(alone);
  const keys = await Promise.all(Array.from({ length: 4 }, () => newConnection(store)));
  for (const key of keys) await writeRuns(store, key, runs);
  const steps = await Promise.all(Array.from({ length: 4 }, () => rollAll(store.writer, end)));
  for (const key of keys) expect(await rowsOf(key)).toEqual(expected);
  expect(steps.filter((count) => count > 0).length).toBeGreaterThan(1);
});

test('a connection that fails does not keep others from being rolled up', async () => {
  const [bad, good] = [await newConnection(store), await newConnection(store)];
  await writeRuns(store, bad, [{ at: at('2026-03-01T00:00:00'), values: [1] }]);
  await writeRuns(store, good, [{ at: at('2026-03-01T01:00:00'), values: [1] }]);
  const rolled = async (_client: unknown, { accountId }: MeasuredConnection) => {
    if (accountId === bad.accountId) throw new Error('broken');
  };
  const round = async () => {
    for await (const _ of rollUp(store.writer, { now: at('2026-03-01T05:30:00'), rolled }));
  };
  await expect(round()).rejects.toThrow('broken');
  expect((await rowsOf(good))['measure_hour']).toHaveLength(1);
  expect((await rowsOf(bad))['measure_hour']).toEqual([]);
});
