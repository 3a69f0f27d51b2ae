import type { Operator } from '../../checks/measure.ts';
import type { Read } from '../../store/read.ts';
import { countAndTexts, readTexts, type TextRow } from '../../store/sql/records.sql.ts';

/** The latest value of a series. */
export interface LatestMeasure {
  series_id: number;
  /** '' = a vital. */
  check_id: string;
  metric: string;
  /** '' = the whole server. */
  database: string;
  /** Null = the whole server or database. */
  object: string | null;
  value: number;
  operator: Operator | null;
  warning: number | null;
  critical: number | null;
  /** The value at which the object is full. */
  limit: number | null;
  forecast: Forecast | null;
}

/** When a value that only grows reaches its limit. Growth is per day; instants are RFC 3339, null = perhaps never. */
export interface Forecast {
  per_day: number;
  per_day_low: number;
  per_day_high: number;
  full_at: string | null;
  full_earliest: string | null;
  full_latest: string | null;
}

/** The latest values of a connection, as of `measured_at` (RFC 3339). */
export interface LatestMeasures {
  measured_at: string;
  /** How many numbers of that run are not kept, because the connection has too many. */
  dropped: number;
  measures: LatestMeasure[];
}

// One statement reads the latest run, its series and their forecasts. A run without values gives one row.
const selectLatest = `
  select l.measured_at, l.dropped, s.series_id, s.check_id, s.metric, s.database, s.object,
         v.value, v.operator, v.warning, v.critical, v.limit,
         f.per_day, f.per_day_low, f.per_day_high, f.full_at, f.full_earliest, f.full_latest
    from measure_latest l
    left join lateral unnest(l.series_ids, l.values, l.operators, l.warnings, l.criticals, l.limits) with ordinality
           as v (series_id, value, operator, warning, critical, "limit", n) on true
    left join measure_series s
           on s.account_id = $1 and s.connection_id = $2 and s.series_id = v.series_id
    left join measure_forecast f
           on f.account_id = $1 and f.connection_id = $2 and f.series_id = v.series_id
   where l.account_id = $1 and l.connection_id = $2
   order by v.n`;

interface LatestRow extends Omit<LatestMeasure, 'series_id' | 'forecast'> {
  measured_at: Date;
  dropped: number;
  series_id: number | null;
  per_day: number | null;
  per_day_low: number;
  per_day_high: number;
  full_at: Date | null;
  full_earliest: Date | null;
  full_latest: Date | null;
}

/** Reads the latest values of a connection, the checks' first; null before its first run with values. */
export async function listMeasures(
  read: Read,
  accountId: number,
  connectionId: number,
): Promise<LatestMeasures | null> {
  const rows = await read<LatestRow>(selectLatest, [accountId, connectionId]);
  const [first] = rows;
  if (!first) return null;
  const measures = rows.flatMap(({ series_id, ...row }) =>
    series_id === null ? [] : [measureOf(series_id, row)],
  );
  return { measured_at: first.measured_at.toISOString(), dropped: first.dropped, measures };
}

function measureOf(series_id: number, row: Omit<LatestRow, 'series_id'>): LatestMeasure {
  const { check_id, metric, database, object, value, operator, warning, critical, limit } = row;
  const levels = { operator, warning, critical, limit };
  return { series_id, check_id, metric, database, object, value, ...levels, forecast: forecastOf(row) };
}

function forecastOf({ per_day, ...row }: Omit<LatestRow, 'series_id'>): Forecast | null {
  if (per_day === null) return null;
  const { per_day_low, per_day_high, full_at, full_earliest, full_latest } = row;
  const growth = { per_day, per_day_low, per_day_high };
  return {
    ...growth,
    full_at: full_at?.toISOString() ?? null,
    full_earliest: full_earliest?.toISOString() ?? null,
    full_latest: full_latest?.toISOString() ?? null,
  };
}

const textsOfLatest = countAndTexts(
  '0',
  `
  select v.series_id, s.metric, s.metric, nullif(s.check_id, ''), nullif(s.database, ''), s.object, v.value, v.operator, v.warning,
         v.critical, l.measured_at, f.full_at
    from measure_latest l
   cross join lateral unnest(l.series_ids, l.values, l.operators, l.warnings, l.criticals) with ordinality
           as v (series_id, value, operator, warning, critical, n)
    join measure_series s
      on s.account_id = $1 and s.connection_id = $2 and s.series_id = v.series_id
    left join measure_forecast f
           on f.account_id = $1 and f.connection_id = $2 and f.series_id = v.series_id
   where l.account_id = $1 and l.connection_id = $2
   order by v.n`,
);

/**
 * The latest values of a connection as texts, the checks' first: series, metric (twice), check (null = a vital), database (null = the
 * whole server) and object; value, operator, warning and critical threshold; when it was measured, and when it is full.
 */
export async function listMeasureTexts(
  read: Read,
  accountId: number,
  connectionId: number,
): Promise<TextRow[]> {
  const [, rows] = await readTexts(read, textsOfLatest, [accountId, connectionId]);
  return rows;
}
