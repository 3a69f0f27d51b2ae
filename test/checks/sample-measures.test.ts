import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addAccount } from '../../src/accounts/add-account.ts';
import { everyCheck } from '../../src/checks/catalogue.ts';
import type { Finding } from '../../src/checks/check.ts';
import { score, summaryText } from '../../src/checks/score.ts';
import { writeSampleData } from '../../src/cli/sample-data/sample-data.ts';
import { type LatestMeasures, listMeasures } from '../../src/runs/measures/list-measures.ts';
import { type History, readHistory } from '../../src/runs/measures/read-history.ts';
import { inTransaction, openPool } from '../../src/store/connect.ts';
import { within } from '../../src/store/read.ts';
import { startTestStore, type TestStore } from '../support/store.ts';

const DAY_MS = 86_400_000;
const catalogue = {
  checks: everyCheck,
  score: (outcomes: Parameters<typeof score>[0]) => score(outcomes, []),
  summaryText,
};

interface SampleConnection {
  id: number;
  findings: Finding[];
  latest: LatestMeasures;
}

let store: TestStore;
let owner: pg.Pool;
let account: number;
let connections: SampleConnection[];

beforeAll(async () => {
  store = await startTestStore();
  const { host, port, user = '', password = '', database } = await store.superuser('store');
  owner = openPool([{ host, port, user, password, database: database ?? 'store' }], 'owner', { max: 1 });
  const plan = { name: 'Sample', kind: 'company', plan: 'enterprise', requests_per_minute: null } as const;
  account = (await addAccount(store.writer, plan)).id;
  const size = { connections: 6, tickets: 120, activity: 0, days: 30 };
  await writeSampleData(store.writer, owner, catalogue, {
    ...size,
    accountId: account,
    seed: 1,
    secret: null,
  });
  const { rows } = await store.writer.query<{ id: number; findings: Finding[] }>(
    `select c.connection_id as id, h.findings
       from connection c join health_check h on h.account_id = c.account_id and h.health_check_id = c.latest_check_id
      where c.account_id = $1 order by 1`,
    [account],
  );
  connections = await Promise.all(
    rows.map(async (row) => {
      const latest = await inTransaction(store.writer, (client) =>
        listMeasures(within(client), account, row.id),
      );
      if (latest === null) throw new Error('A sample connection has no values.');
      return { ...row, latest };
    }),
  );
});
afterAll(async () => {
  await owner.end();
  await store.stop();
});

function historyOf({ id, latest }: SampleConnection, metric: string, days: number): Promise<History[]> {
  const series = latest.measures
    .filter((measure) => measure.metric === metric)
    .map(({ series_id }) => series_id);
  const range = { series, from: new Date(Date.now() - days * DAY_MS), to: new Date() };
  return inTransaction(store.writer, (client) => readHistory(within(client), account, id, range));
}

/** How a finding's line shows a value. */
function shownValue(metric: string, value: number): string | RegExp {
  if (metric.endsWith('_ratio')) return `${Math.floor(value * 100 + 1e-9)} %`;
  return metric.endsWith('_count') ? String(value) : /\d (?:h|min)/;
}

test('the latest values are the numbers of the findings, and their lines say the same', async () => {
  const measured = connections.flatMap(({ findings, latest }) =>
    findings.flatMap((finding) =>
      finding.measured ? [{ finding, measured: finding.measured, latest }] : [],
    ),
  );
  expect(measured.length).toBeGreaterThan(3);
  for (const { finding, measured: number, latest } of measured) {
    const value = latest.measures.find(
      ({ check_id, metric, object }) =>
        check_id === finding.check_id && metric === number.metric && object === finding.object,
    );
    expect(value?.value, finding.metric_line).toBeCloseTo(number.value, 6);
    expect(number.value, finding.metric_line).toBeGreaterThanOrEqual(number.threshold);
    expect(finding.metric_line).toMatch(shownValue(number.metric, number.value));
  }
  const { rows } = await store.writer.query(
    `select count(*) filter (where measured is null and check_id ~ 'SATURATION|DEAD_TUPLES|EXHAUSTION|LONG_|IDLE_IN') as lacking,
            count(*) filter (where measured is not null) > 10 as many
       from ticket where account_id = $1`,
    [account],
  );
  expect(rows).toEqual([{ lacking: 0, many: true }]);
});

test('every resolution has values, without a fault as with one', async () => {
  for (const connection of connections) {
    for (const [days, resolution, least] of [
      [1, 'run', 200],
      [7, 'five_minutes', 1_000],
      [30, 'hour', 680],
      [300, 'day', 28],
    ] as const) {
      const [history] = await historyOf(connection, 'connections_count', days);
      expect(history?.resolution).toBe(resolution);
      const known = history?.last.filter((value) => value !== null) ?? [];
      expect(known.length, resolution).toBeGreaterThan(least);
      if (resolution === 'day') continue;
      expect(Math.max(...known)).toBeGreaterThan(1.5 * Math.min(...known)); // a daily rhythm
    }
  }
});

test('the values rise when a ticket opens', async () => {
  const { rows } = await store.writer.query<{ connection_id: number; first_seen: number; value: number }>(
    `select connection_id, extract(epoch from first_seen_at)::float8 as first_seen, (measured->>'value')::float8 as value
       from ticket where account_id = $1 and measured->>'metric' = 'connections_used_ratio'`,
    [account],
  );
  expect(rows.length).toBeGreaterThan(0);
  for (const { connection_id, first_seen, value } of rows) {
    const connection = connections.find(({ id }) => id === connection_id);
    const [history] = connection ? await historyOf(connection, 'connections_used_ratio', 40) : [];
    const at =
      history?.at.findIndex((seconds) => seconds <= first_seen && first_seen < seconds + 3_600) ?? -1;
    expect(history?.maximum?.[at] ?? value).toBeGreaterThan(0.85 * value);
  }
});

test('some series have a forecast, and changes lie within the history', async () => {
  const forecasts = connections.flatMap(({ latest }) => latest.measures.filter(({ forecast }) => forecast));
  const counters = forecasts.filter(({ forecast }) => forecast?.full_at);
  expect(counters.length).toBeGreaterThanOrEqual(connections.length - 1);
  expect(forecasts.some(({ metric }) => metric === 'database_bytes')).toBe(true);
  const { rows } = await store.writer.query(
    `select array_agg(distinct kind order by kind) as kinds, bool_and(at between now() - interval '31 days' and now()) as recent
       from connection_change where account_id = $1`,
    [account],
  );
  expect(rows).toEqual([
    { kinds: expect.arrayContaining(['finding', 'index', 'restart', 'setting', 'version']), recent: true },
  ]);
});

test('alerts follow the scores by the rule of the account, and page nobody', async () => {
  const { rows } = await store.writer.query<{
    connection_id: number;
    triggered_at: Date;
    resolved_at: Date | null;
    value: number;
    worst: number;
    is_silent: boolean;
  }>(
    `select connection_id, triggered_at, resolved_at, value, (details->>'worst')::float8 as worst,
            announced_at is null and (state = 'resolved') = (acknowledged_at is null) as is_silent
       from alert where account_id = $1 order by alert_id`,
    [account],
  );
  expect(rows.length).toBeGreaterThan(1);
  const times = rows.map(({ triggered_at }) => triggered_at.getTime());
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  for (const { connection_id, triggered_at, resolved_at, value, worst, is_silent } of rows) {
    expect(is_silent).toBe(true);
    const of = [account, connection_id, triggered_at, resolved_at];
    const { rows: runs } = await store.writer.query(
      `select min(score) as worst, bool_and(score < 55) as low, (array_agg(score order by created_at))[1] as first,
              (select score from health_check where account_id = $1 and connection_id = $2
                  and date_trunc('milliseconds', created_at) = $4::timestamptz) >= 55 as clears
         from health_check
        where account_id = $1 and connection_id = $2 and date_trunc('milliseconds', created_at) >= $3
          and date_trunc('milliseconds', created_at) < coalesce($4::timestamptz, 'infinity')`,
      of,
    );
    expect(runs).toEqual([
      { worst: expect.any(Number), low: true, first: value, clears: resolved_at && true },
    ]);
    expect(worst).toBeLessThanOrEqual(runs[0].worst);
    expect(value).toBeLessThan(50);
  }
});

test('episodes and deadlocks lie within the last weeks', async () => {
  const { rows } = await store.writer.query(
    `select (select count(*) from blocking_episode where account_id = $1) > 20 as episodes,
            (select count(*) from deadlock d join connection c using (account_id, connection_id)
              where account_id = $1 and c.engine = 'mysql' and d.at between now() - interval '15 days' and now()) as deadlocks,
            (select count(*) from connection where account_id = $1 and engine = 'mysql') as servers`,
    [account],
  );
  expect(rows).toEqual([{ episodes: true, deadlocks: rows[0].servers * 4, servers: expect.any(Number) }]);
});
