import type pg from 'pg';
import { forecast, type Point } from './forecast.ts';
import type { Forecast } from './list-measures.ts';

const HOUR_S = 3_600;

// The limit is that of the latest run.
const selectGrowing = `
  select s.series_id, l."limit", extract(epoch from h.day)::float8 as day, h.last
    from measure_series s
    left join (select unnest(series_ids) as series_id, unnest(limits) as "limit"
                 from measure_latest
                where account_id = $1 and connection_id = $2) l on l.series_id = s.series_id
    join measure_hour h
      on h.account_id = $1 and h.connection_id = $2 and h.series_id = s.series_id
     and h.day >= (to_timestamp($3) - interval '31 days')::date
   where s.account_id = $1 and s.connection_id = $2 and s.grows
   order by s.series_id, h.day`;

const replaceForecasts = `
  with gone as (
    delete from measure_forecast where account_id = $1 and connection_id = $2 and series_id <> all ($4::integer[])
  )
  insert into measure_forecast (account_id, connection_id, series_id, made_at, per_day, per_day_low, per_day_high,
                                full_at, full_earliest, full_latest)
  select $1, $2, series_id, to_timestamp($3), per_day, per_day_low, per_day_high, full_at, full_earliest, full_latest
    from unnest($4::integer[], $5::float8[], $6::float8[], $7::float8[],
                $8::timestamptz[], $9::timestamptz[], $10::timestamptz[])
      as f (series_id, per_day, per_day_low, per_day_high, full_at, full_earliest, full_latest)
  on conflict (account_id, connection_id, series_id) do update
     set made_at = excluded.made_at, per_day = excluded.per_day, per_day_low = excluded.per_day_low,
         per_day_high = excluded.per_day_high, full_at = excluded.full_at, full_earliest = excluded.full_earliest,
         full_latest = excluded.full_latest`;

interface Day {
  series_id: number;
  limit: number | null;
  /** Unix time in seconds. */
  day: number;
  /** The last value of each hour. */
  last: (number | null)[];
}

/**
 * Forecasts the series of a connection that only grow, from the hours of the last 30 days, and replaces the forecasts
 * made before: in one statement that changes rows, so it can be repeated at any time. `now` is in Unix seconds.
 */
export async function storeForecasts(
  writer: Pick<pg.ClientBase, 'query'>,
  { accountId, connectionId }: { accountId: number; connectionId: number },
  now: number,
): Promise<void> {
  const { rows } = await writer.query<Day>(selectGrowing, [accountId, connectionId, now]);
  const made = computeForecasts(rows, now);
  await writer.query(replaceForecasts, [
    accountId,
    connectionId,
    now,
    made.map(({ seriesId }) => seriesId),
    ...(['per_day', 'per_day_low', 'per_day_high', 'full_at', 'full_earliest', 'full_latest'] as const).map(
      (column) => made.map((one) => one[column]),
    ),
  ]);
}

/** The forecasts of series, from their days in order of time. */
function computeForecasts(rows: readonly Day[], now: number): (Forecast & { seriesId: number })[] {
  return [...Map.groupBy(rows, ({ series_id }) => series_id)].flatMap(([seriesId, days]) => {
    const made = forecast(days.flatMap(pointsOf), { limit: days[0]?.limit ?? null, now });
    return made === null ? [] : [{ seriesId, ...made }];
  });
}

function pointsOf({ day, last }: Day): Point[] {
  return last.flatMap((value, hour) => (value === null ? [] : [{ at: day + (hour + 1) * HOUR_S, value }]));
}
