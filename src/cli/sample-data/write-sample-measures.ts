import type pg from 'pg';
import { storeForecasts } from '../../runs/measures/store-forecasts.ts';
import { inTransaction } from '../../store/connect.ts';
import type { Catalogue } from '../command.ts';
import { changesOf } from './sample-changes.ts';
import type { SampleFleet } from './sample-connection.ts';
import { episodesOf, makeDeadlocks } from './sample-episodes.ts';
import { type History, runInstant } from './sample-fleet.ts';
import { incidentsOf } from './sample-incidents.ts';
import type { SampleStep } from './sample-progress.ts';
import { type SampleSeries, seriesOf } from './sample-series.ts';
import { summarize } from './sample-summaries.ts';

const insertSeries = `
  insert into measure_series (account_id, connection_id, series_id, slot, check_id, metric, database, object, grows, last_seen_at)
  select $1, $2, n, n, check_id, metric, database, object, grows, date_trunc('hour', to_timestamp($8))
    from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[]) with ordinality
      as s (check_id, metric, database, object, grows, n)`;

const insertRuns = `
  insert into measure_run (account_id, connection_id, measured_at, values)
  select $1, $2, timestamptz 'epoch' + at * interval '1 microsecond', values::real[]
    from unnest($3::bigint[], $4::text[]) as r (at, values)`;

const insertLatest = `
  insert into measure_latest (account_id, connection_id, measured_at, series_ids, values, operators, warnings, criticals, limits)
  values ($1, $2, timestamptz 'epoch' + $3::bigint * interval '1 microsecond', $4, $5, $6, $7, $8, $9)`;

const insertSummaries = (table: 'measure_hour' | 'measure_day', span: 'day' | 'month') => `
  insert into ${table} (account_id, connection_id, series_id, ${span}, minimum, maximum, mean, last)
  select $1, $2, series_id, to_timestamp(at)::date, minimum::real[], maximum::real[], mean::real[], last::real[]
    from unnest($3::integer[], $4::float8[], $5::text[], $6::text[], $7::text[], $8::text[])
      as r (series_id, at, minimum, maximum, mean, last)`;

const insertRolled = `
  insert into measure_rolled (account_id, connection_id, hours_to, days_to)
  values ($1, $2, to_timestamp($3), to_timestamp($4)::date)`;

const insertChanges = `
  insert into connection_change (account_id, connection_id, at, kind, database, subject, before, after, source)
  select $1, $2, timestamptz 'epoch' + at * interval '1 microsecond', kind, database, subject, before, after, source
    from json_to_recordset($3::json)
      as c (at bigint, kind text, database text, subject text, before text, after text, source text)`;

const insertEpisodes = `
  insert into blocking_episode (account_id, connection_id, began_at, root, seen_at, ended_at, database, role, application,
                                most_sessions, longest_seconds, lost_seconds, trees)
  select $1, $2, to_timestamp(began_at), root, to_timestamp(seen_at), to_timestamp(seen_at), database, role, application,
         most_sessions, longest_seconds, lost_seconds, trees
    from json_to_recordset($3::json)
      as e (began_at float8, root text, seen_at float8, database text, role text, application text,
            most_sessions int, longest_seconds float8, lost_seconds float8, trees jsonb)`;

const insertDeadlocks = `
  insert into deadlock (account_id, connection_id, at, transactions)
  select $1, $2, to_timestamp(at), transactions
    from json_to_recordset($3::json) as d (at float8, transactions jsonb)`;

/** The connections that have measured values: the first ones. */
const MOST_MEASURED = 20;
const FIVE_MINUTES_S = 300;
const TEN_MINUTES_S = 600;
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const RUNS_KEPT_S = 7 * DAY_S;
/** A run is rolled up at least two minutes after its hour. */
const ROLLED_AFTER_S = 120;

/**
 * Writes what the first connections measured, with forecasts, what changed on them, and when sessions blocked others: each
 * connection in one transaction. The values in the latest run are those of its findings.
 */
export async function writeMeasures(
  writer: pg.Pool,
  account: { id: number; history: History },
  fleet: SampleFleet & { connectionIds: readonly number[] },
  catalogue: Catalogue,
  step: SampleStep,
): Promise<void> {
  const checks = new Map(catalogue.checks.map((check) => [check.id, check]));
  const measured = fleet.connections.slice(0, MOST_MEASURED);
  for (const [place, connection] of measured.entries()) {
    const connectionId = fleet.connectionIds[place];
    if (connectionId === undefined) throw new Error('A connection was not stored.');
    const runs = Array.from({ length: fleet.runs }, (_, run) =>
      runInstant(connection, run, fleet.runs, account.history),
    );
    const incidents = incidentsOf(connection, fleet, account.history, checks);
    const last = runs.at(-1) ?? account.history.end;
    const series = seriesOf(connection, { incidents, end: last / 1e6, leaks: place % 3 === 1 });
    const happened = { incidents, history: account.history };
    const changes = changesOf(connection, happened);
    const episodes = episodesOf(connection, happened);
    const deadlocks = makeDeadlocks(connection, account.history);
    await inTransaction(writer, async (client) => {
      await writeConnection(client, [account.id, connectionId], series, { runs, history: account.history });
      await client.query(insertChanges, [account.id, connectionId, JSON.stringify(changes)]);
      await client.query(insertEpisodes, [account.id, connectionId, JSON.stringify(episodes)]);
      await client.query(insertDeadlocks, [account.id, connectionId, JSON.stringify(deadlocks)]);
    });
    step(place + 1, measured.length);
  }
}

async function writeConnection(
  client: pg.ClientBase,
  ids: readonly [accountId: number, connectionId: number],
  series: readonly SampleSeries[],
  { runs, history }: { runs: readonly number[]; history: History },
): Promise<void> {
  const [start, end] = [history.start / 1e6, history.end / 1e6];
  const last = runs.at(-1) ?? history.end;
  const column = <T>(of: (one: SampleSeries) => T) => series.map(of);
  await client.query(insertSeries, [
    ...[...ids, column(({ checkId }) => checkId), column(({ metric }) => metric)],
    ...[column(({ database }) => database), column(({ object }) => object)],
    ...[column(({ grows = false }) => grows), last / 1e6],
  ]);

  const dayAgo = Math.max(start, end - DAY_S);
  const grid = [
    ...instants(Math.max(start, end - RUNS_KEPT_S), dayAgo, TEN_MINUTES_S),
    ...instants(dayAgo, last / 1e6 - 1, FIVE_MINUTES_S),
  ];
  const measured = [...grid, ...runs.filter((run) => run / 1e6 >= end - RUNS_KEPT_S)].toSorted(
    (a, b) => a - b,
  );
  await client.query(insertRuns, [
    ...[...ids, `{${measured.join(',')}}`],
    measured.map((at) => arrayOf(series.map(({ curve }) => curve(at / 1e6)))),
  ]);

  const latest = series.flatMap((one, n) => {
    const value = one.curve(last / 1e6);
    return value === null ? [] : [{ ...one, id: n + 1, value }];
  });
  await client.query(insertLatest, [
    ...[...ids, last, latest.map(({ id }) => id), latest.map(({ value }) => value)],
    ...[latest.map(({ operator }) => operator), latest.map(({ warning }) => warning)],
    ...[latest.map(({ critical }) => critical), latest.map(({ limit = null }) => limit)],
  ]);

  const hoursTo = Math.floor((end - ROLLED_AFTER_S) / HOUR_S) * HOUR_S;
  const daysTo = hoursTo - (hoursTo % DAY_S);
  const { hours, days } = summarize(series, { from: start, hoursTo, daysTo });
  for (const [rows, statement] of [
    [hours, insertSummaries('measure_hour', 'day')],
    [days, insertSummaries('measure_day', 'month')],
  ] as const) {
    const texts = (['minimum', 'maximum', 'mean', 'last'] as const).map((name) =>
      rows.map(({ [name]: values }) => (values === null ? null : arrayOf(values))),
    );
    await client.query(statement, [...ids, rows.map(({ id }) => id), rows.map(({ at }) => at), ...texts]);
  }
  await client.query(insertRolled, [...ids, hoursTo, daysTo]);
  await storeForecasts(client, { accountId: ids[0], connectionId: ids[1] }, end);
}

/** Every `step` seconds from `from` to before `to`, in microseconds since 1970; these are Unix times in seconds. */
function instants(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step);
  const count = Math.max(0, Math.ceil(to / step) - first);
  return Array.from({ length: count }, (_, n) => (first + n) * step * 1e6);
}

/** A `real[]` for PostgreSQL, with no more digits than that holds: fewer are faster. */
function arrayOf(values: readonly (number | null)[]): string {
  return `{${values.map((value) => (value === null ? 'null' : rounded(value))).join(',')}}`;
}

function rounded(value: number): number {
  return value < 1_000 ? Math.round(value * 1e7) / 1e7 : Math.round(value);
}
