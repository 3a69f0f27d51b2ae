import type { Read } from '../../store/read.ts';
import type { FleetRange } from '../../vocabulary/fleet-ranges.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;

/**
 * The ranges of a fleet's history: how long, from which table, and the seconds between two points. Its end comes from runs, in
 * steps of its own: the last hour as a whole, and the latest hours of a day, because a rollup may not have read them yet.
 */
const RANGES = {
  '1h': { seconds: HOUR, table: 'hour', step: 120, tail: { seconds: HOUR, step: 120 } },
  '24h': { seconds: DAY, table: 'hour', step: HOUR, tail: { seconds: 3 * HOUR, step: HOUR / 3 } },
  '7d': { seconds: 7 * DAY, table: 'hour', step: 3 * HOUR, tail: null },
  '30d': { seconds: 30 * DAY, table: 'day', step: DAY, tail: null },
  '13mo': { seconds: 396 * DAY, table: 'day', step: 7 * DAY, tail: null },
} as const satisfies Record<FleetRange, unknown>;

/** The seconds between two runs of sample data, which is never checked. */
const UNSCHEDULED = 300;

/**
 * The history of one metric on one connection, oldest first: values, or the means of days; null = a gap. `at` is Unix time in
 * seconds.
 */
export interface FleetSeries {
  connection_id: number;
  at: number[];
  last: (number | null)[];
}

// Of several standbys, databases, tables or indexes: the one with the largest value.
export const selectFleetSeries = `
  select c.connection_id, s.series_id, s.slot, extract(epoch from k.every)::float8 as every,
         extract(epoch from l.measured_at)::float8 as measured_at,
         l.values[array_position(l.series_ids, s.series_id)] as latest
    from unnest($2::bigint[]) with ordinality as asked (connection_id, n)
    join connection c on c.account_id = $1 and c.connection_id = asked.connection_id and c.removed_at is null
    left join connection_schedule k on k.account_id = $1 and k.connection_id = c.connection_id
    left join measure_latest l on l.account_id = $1 and l.connection_id = c.connection_id
    left join lateral (
      select series_id, slot from measure_series
       where account_id = $1 and connection_id = c.connection_id and check_id = '' and metric = $3
       order by l.values[array_position(l.series_ids, series_id)] desc nulls last, series_id
       limit 1) s on true
   order by asked.n`;

interface SeriesRow {
  connection_id: number;
  /** Null if the connection does not measure it. */
  series_id: number | null;
  slot: number | null;
  every: number | null;
  measured_at: number | null;
  latest: number | null;
}

export const selectFleetHours = `
  select asked.connection_id, extract(epoch from h.day)::float8 as at, h.last
    from unnest($2::bigint[], $3::integer[]) as asked (connection_id, series_id)
   cross join lateral (
      select day, last from measure_hour
       where account_id = $1 and connection_id = asked.connection_id and series_id = asked.series_id
         and day >= to_timestamp($4)::date
       order by day) h`;

// The mean of each day: the last values of days would all be those of midnight.
export const selectFleetDays = `
  select asked.connection_id, extract(epoch from d.month)::float8 as at, coalesce(d.mean, d.last) as last
    from unnest($2::bigint[], $3::integer[]) as asked (connection_id, series_id)
   cross join lateral (
      select month, mean, last from measure_day
       where account_id = $1 and connection_id = asked.connection_id and series_id = asked.series_id
         and month >= date_trunc('month', to_timestamp($4))::date
       order by month) d`;

// The last run of each step: a look-up each, however many runs there are.
export const selectFleetTail = `
  select asked.connection_id, extract(epoch from r.measured_at)::float8 as at, array[r.values[asked.slot]] as last
    from unnest($2::bigint[], $3::integer[]) as asked (connection_id, slot)
   cross join generate_series($4::bigint, $5::bigint, $6::bigint) as step (ends)
   cross join lateral (
      select measured_at, values from measure_run
       where account_id = $1 and connection_id = asked.connection_id
         and measured_at > to_timestamp(step.ends - $6) and measured_at <= to_timestamp(step.ends)
       order by measured_at desc
       limit 1) r`;

interface ValuesRow {
  connection_id: number;
  at: number;
  last: (number | null)[];
}

interface Point {
  at: number;
  value: number;
}

/**
 * Reads the history of a vital sign, with at most 60 points for each connection. Connections that do not exist are left out;
 * one that does not measure it has no points. `now` is Unix time in whole seconds.
 */
export async function readFleetHistory(
  read: Read,
  accountId: number,
  {
    metric,
    connections,
    range,
    now,
  }: { metric: string; connections: number[]; range: FleetRange; now: number },
): Promise<{ from: number; to: number; connections: FleetSeries[] }> {
  const { seconds, table, step, tail: ofRuns } = RANGES[range];
  const from = now - seconds;
  const asked = await read<SeriesRow>(selectFleetSeries, [accountId, [...new Set(connections)], metric]);
  const known = asked.filter(({ series_id }) => series_id !== null);
  const ids = known.map(({ connection_id }) => connection_id);
  const kept = known.map(({ series_id }) => series_id);
  const tailFrom = ofRuns ? now - (now % ofRuns.step) - ofRuns.seconds : now;
  const [rows, tail] = await Promise.all([
    read<ValuesRow>(table === 'hour' ? selectFleetHours : selectFleetDays, [accountId, ids, kept, from]),
    ofRuns ? readTail(read, accountId, known, { from: tailFrom, to: now, step: ofRuns.step }) : [],
  ]);
  const unit = table === 'hour' ? HOUR : DAY;
  const rolled = Map.groupBy(rows, ({ connection_id }) => connection_id);
  const recent = Map.groupBy(tail, ({ connection_id }) => connection_id);
  return {
    from,
    to: now,
    connections: asked.map(({ connection_id, every, measured_at, latest }) => {
      const spans = (rolled.get(connection_id) ?? []).flatMap((row) => elementsOf(row, unit));
      const points = [
        ...lastOfEach(spans, step).filter(({ at }) => at <= tailFrom),
        ...(recent.get(connection_id) ?? []).flatMap((row) => elementsOf(row, 0)),
      ].filter(({ at }) => at > from);
      // The latest value replaces that of its hour. It is no mean of a day.
      if (measured_at !== null && latest !== null && (table === 'hour' || points.length === 0)) {
        while ((points.at(-1)?.at ?? 0) >= measured_at) points.pop();
        if (measured_at > from) points.push({ at: measured_at, value: latest });
      }
      return { connection_id, ...withGaps(points, 2 * Math.max(step, every ?? UNSCHEDULED)) };
    }),
  };
}

async function readTail(
  read: Read,
  accountId: number,
  known: SeriesRow[],
  { from, to, step }: { from: number; to: number; step: number },
): Promise<ValuesRow[]> {
  const placed = known.filter(({ slot }) => slot !== null);
  return read<ValuesRow>(selectFleetTail, [
    accountId,
    placed.map(({ connection_id }) => connection_id),
    placed.map(({ slot }) => slot),
    from + step,
    to + step,
    step,
  ]);
}

/** The values of a row, at the end of the hour or day that each stands for. */
function elementsOf({ at, last }: ValuesRow, unit: number): Point[] {
  return last.flatMap((value, n) => (value === null ? [] : [{ at: at + (n + 1) * unit, value }]));
}

/** The last point of each step. */
function lastOfEach(points: Point[], step: number): Point[] {
  const stepOf = ({ at }: Point) => Math.ceil(at / step);
  return points.filter((point, n) => {
    const next = points[n + 1];
    return !next || stepOf(next) !== stepOf(point);
  });
}

/** Puts a null between points that are further apart than `longest` seconds. */
function withGaps(points: Point[], longest: number): Omit<FleetSeries, 'connection_id'> {
  const series: Omit<FleetSeries, 'connection_id'> = { at: [], last: [] };
  for (const [n, { at, value }] of points.entries()) {
    const before = points[n - 1]?.at ?? at;
    if (at - before > longest) {
      series.at.push(Math.floor((before + at) / 2));
      series.last.push(null);
    }
    series.at.push(Math.floor(at));
    series.last.push(value);
  }
  return series;
}
