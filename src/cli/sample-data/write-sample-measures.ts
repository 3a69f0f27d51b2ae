import type pg from 'pg';
import { storeForecasts } from '../../runs/measures/store-forecasts.ts';
import { makeChanges } from './sample-changes.ts';
import type { SampleFleet } from './sample-connection.ts';
import type { SampleSeries } from './sample-curves.ts';
import { makeDeadlocks, makeEpisodes } from './sample-episodes.ts';
import { runInstant } from './sample-fleet.ts';
import { incidentsOf } from './sample-incidents.ts';
import type { SampleStep } from './sample-progress.ts';
import { makeSeries } from './sample-series.ts';
import { roundValue, summarize } from './sample-summaries.ts';
import {
  type SampleTarget,
  type StoredConnection,
  secondsToTimestamp,
  toTimestamp,
  writeDetails,
} from './sample-target.ts';

const FIVE_MINUTES_S = 300;
const TEN_MINUTES_S = 600;
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const RUNS_KEPT_S = 7 * DAY_S;
/** A run is rolled up at least two minutes after its hour. */
const ROLLED_AFTER_S = 120;

/**
 * Writes what the first connections measured, with forecasts, what changed on them, and when sessions blocked others. The
 * values in the latest run are those of its findings.
 */
export async function writeMeasures(
  target: SampleTarget,
  fleet: SampleFleet & { connectionIds: readonly number[] },
  step: SampleStep,
): Promise<void> {
  const { history, checks } = target;
  const makeRows = (connection: StoredConnection) => {
    const incidents = incidentsOf(connection, fleet, history, checks);
    const instants = Array.from({ length: fleet.runs }, (_, run) =>
      runInstant(connection, run, fleet.runs, history),
    );
    const end = instants.at(-1) ?? history.end;
    const series = makeSeries(connection, { incidents, end: end / 1e6 });
    return {
      ...measureRows(series, { start: history.start / 1e6, end: history.end / 1e6, instants }),
      connection_change: makeChanges(connection, { incidents, history }),
      blocking_episode: makeEpisodes(connection, { incidents, history }),
      deadlock: makeDeadlocks(connection, history),
    };
  };
  const forecast = (client: pg.ClientBase, { ids }: StoredConnection) =>
    storeForecasts(client, { accountId: ids.account_id, connectionId: ids.connection_id }, history.end / 1e6);
  await writeDetails(target, fleet, step, makeRows, forecast);
}

/** The rows of a connection's series. `start` and `end` are in Unix seconds, `instants` of its runs in microseconds. */
function measureRows(
  series: readonly SampleSeries[],
  { start, end, instants }: { start: number; end: number; instants: readonly number[] },
) {
  const last = instants.at(-1) ?? end * 1e6;
  const dayAgo = Math.max(start, end - DAY_S);
  const measured = [
    ...grid(Math.max(start, end - RUNS_KEPT_S), dayAgo, TEN_MINUTES_S),
    ...grid(dayAgo, last / 1e6 - 1, FIVE_MINUTES_S),
    ...instants.filter((run) => run / 1e6 >= end - RUNS_KEPT_S),
  ].toSorted((a, b) => a - b);
  const hoursTo = Math.floor((end - ROLLED_AFTER_S) / HOUR_S) * HOUR_S;
  const daysTo = hoursTo - (hoursTo % DAY_S);
  const summaries = summarize(series, { from: start, hoursTo, daysTo });
  return {
    measure_series: series.map(({ checkId, metric, database, object, grows = false }, place) => ({
      series_id: place + 1,
      slot: place + 1,
      check_id: checkId,
      metric,
      database,
      object,
      grows,
      last_seen_at: secondsToTimestamp(Math.floor(last / 1e6 / HOUR_S) * HOUR_S),
    })),
    measure_run: measured.map((at) => ({
      measured_at: toTimestamp(at),
      values: series.map(({ curve }) => roundValue(curve(at / 1e6))),
    })),
    measure_latest: [latestRow(series, last)],
    measure_hour: summaries.hours,
    measure_day: summaries.days,
    measure_rolled: [{ hours_to: secondsToTimestamp(hoursTo), days_to: secondsToTimestamp(daysTo) }],
  };
}

function latestRow(series: readonly SampleSeries[], last: number) {
  const latest = series.flatMap((one, place) => {
    const value = one.curve(last / 1e6);
    return value === null ? [] : [{ ...one, id: place + 1, value }];
  });
  return {
    measured_at: toTimestamp(last),
    series_ids: latest.map(({ id }) => id),
    values: latest.map(({ value }) => value),
    operators: latest.map(({ operator }) => operator),
    warnings: latest.map(({ warning }) => warning),
    criticals: latest.map(({ critical }) => critical),
    limits: latest.map(({ limit = null }) => limit),
  };
}

/** Every `step` seconds from `from` to before `to`, in microseconds since 1970; these are Unix times in seconds. */
function grid(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step);
  const count = Math.max(0, Math.ceil(to / step) - first);
  return Array.from({ length: count }, (_, n) => (first + n) * step * 1e6);
}
