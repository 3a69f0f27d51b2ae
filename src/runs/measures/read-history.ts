import type { Read } from '../../store/read.ts';
import { countAndTexts, readTexts } from '../../store/sql/records.sql.ts';
import {
  joinSummaries,
  lastOfEach,
  pointsOf,
  type RunValues,
  type Summary,
  spread,
  summarizeSpans,
} from './history-points.ts';
import { FIVE_MINUTES_KEPT_DAYS, HOURS_KEPT_DAYS } from './kept.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const FIVE_MINUTES = 5 * MINUTE;
/** Seconds that a range may begin before the instant from which on its resolution is kept. */
const SLACK = HOUR;
const LONGEST_DAYS = 400;

/**
 * The history of a series, oldest first. `at` is Unix time in seconds: of the run, or the beginning of the hour or day
 * (UTC). Null = a gap: nothing was measured in that run, hour or day. Without `minimum`, `maximum` and `mean` they equal
 * `last`.
 */
export interface History {
  series_id: number;
  resolution: Resolution;
  at: number[];
  last: (number | null)[];
  minimum?: (number | null)[];
  maximum?: (number | null)[];
  mean?: (number | null)[];
}

/** How fine a history is. */
export type Resolution = 'run' | 'five_minutes' | 'hour' | 'day';

/** The history to read: of these series of the connection, in these instants. */
export interface HistoryRange {
  series: readonly number[];
  from: Date;
  to: Date;
  /** Default: by the range. */
  resolution?: Resolution;
  /** Where the values of these series are, if that is known. */
  places?: readonly SeriesPlace[];
}

/** Where the values of a series are. */
export interface SeriesPlace {
  series_id: number;
  slot: number | null;
  /** When it was last measured, to the day. */
  seen: number;
}

/** SQL: the columns of a {@link SeriesPlace} but its id. */
export const seriesPlace = `slot, extract(epoch from last_seen_at)::float8 as seen`;

const selectSlots = `
  select series_id, ${seriesPlace}
    from measure_series
   where account_id = $1 and connection_id = $2 and series_id = any($3::integer[])`;

// As texts: a day has 1,400 runs.
const selectRuns = countAndTexts(
  '0',
  `
  select floor(extract(epoch from measured_at))::bigint,
         array(select r.values[slot] from unnest($3::integer[]) with ordinality s (slot, n) order by n)
    from measure_run r
   where account_id = $1 and connection_id = $2 and measured_at >= to_timestamp($4) and measured_at <= to_timestamp($5)
   order by measured_at`,
);

const selectFiveMinutes = `
  select series_id, extract(epoch from day)::float8 as at, last
    from measure_five_minutes
   where account_id = $1 and connection_id = $2 and series_id = any($3::integer[])
     and day between to_timestamp($4)::date and to_timestamp($5)::date
   order by day`;

const selectHours = `
  select series_id, extract(epoch from day)::float8 as at, minimum, maximum, mean, last
    from measure_hour
   where account_id = $1 and connection_id = $2 and series_id = any($3::integer[])
     and day between to_timestamp($4)::date and to_timestamp($5)::date`;

const selectDays = `
  select series_id, extract(epoch from month)::float8 as at, minimum, maximum, mean, last
    from measure_day
   where account_id = $1 and connection_id = $2 and series_id = any($3::integer[])
     and month between date_trunc('month', to_timestamp($4))::date and to_timestamp($5)::date`;

interface SummaryRow {
  series_id: number;
  at: number;
  minimum: (number | null)[] | null;
  maximum: (number | null)[] | null;
  mean: (number | null)[] | null;
  last: (number | null)[];
}

/**
 * Reads the history of series, at a resolution that depends on the range: every run for a day, then five minutes up to
 * 7 days, hours up to 60 days, else days. What is not rolled up yet comes from the finer table, except today, which is in
 * no history of days that has yesterday. Series that do not exist are left out.
 */
export async function readHistory(
  read: Read,
  accountId: number,
  connectionId: number,
  { series, from, to, resolution: given, places }: HistoryRange,
): Promise<History[]> {
  const now = Date.now() / 1_000;
  const last = Math.min(to.getTime() / 1_000, now);
  const first = Math.max(from.getTime() / 1_000, now - LONGEST_DAYS * DAY);
  const of: Range = { read, ids: [accountId, connectionId], first, last, now, places };
  const wanted = [...new Set(series)];
  const resolution = given ?? resolutionOf(first, last, now);
  if (wanted.length === 0 || first > last) return [];
  if (resolution === 'hour') return readHours(of, wanted);
  if (resolution === 'day') return readDays(of, wanted);
  if (resolution === 'five_minutes') return readFiveMinutes(of, wanted);
  const found = await readSeries(of, wanted);
  const runs = await readRuns(of, found, first);
  return found.map(({ series_id }, n) => ({ series_id, resolution, ...pointsOf(runs, n, MINUTE) }));
}

/** The resolution of a range: Unix times in seconds. */
export function resolutionOf(first: number, last: number, now: number): Resolution {
  const [length, age] = [last - first, now - first];
  if (length <= DAY + 1 && age <= DAY + SLACK) return 'run';
  if (length <= 7 * DAY + 1 && age <= FIVE_MINUTES_KEPT_DAYS * DAY + SLACK) return 'five_minutes';
  return length <= HOURS_KEPT_DAYS * DAY + 1 && age <= HOURS_KEPT_DAYS * DAY + SLACK ? 'hour' : 'day';
}

interface Range {
  read: Read;
  ids: [accountId: number, connectionId: number];
  first: number;
  last: number;
  now: number;
  places: readonly SeriesPlace[] | undefined;
}

async function readSeries({ read, ids, places }: Range, wanted: readonly number[]): Promise<SeriesPlace[]> {
  const found = places ?? (await read<SeriesPlace>(selectSlots, [...ids, wanted]));
  const known = new Map(found.map((each) => [each.series_id, each]));
  return wanted.flatMap((id) => known.get(id) ?? []);
}

async function readRuns(
  { read, ids, last }: Range,
  series: readonly SeriesPlace[],
  first: number,
): Promise<RunValues[]> {
  const slots = series.map(({ slot }) => slot);
  const [, runs] = await readTexts(read, selectRuns, [...ids, slots, first, last]);
  return runs.map(([at, values]) => ({ at: Number(at), values: parseValues(values ?? '{}') }));
}

function parseValues(array: string): (number | null)[] {
  const values = array.slice(1, -1).split(',').filter(Boolean);
  return values.map((value) => (value === 'NULL' ? null : Number(value)));
}

/** The five minutes of whole days, and those of the runs since: the runs of a day are removed when its five minutes are stored. */
async function readFiveMinutes(of: Range, wanted: readonly number[]): Promise<History[]> {
  const first = of.first - (of.first % FIVE_MINUTES);
  const found = await readSeries(of, wanted);
  const days = await of.read<Pick<SummaryRow, 'series_id' | 'at' | 'last'>>(selectFiveMinutes, [
    ...of.ids,
    wanted,
    first,
    of.last,
  ]);
  const runs = lastOfEach(await readRuns(of, found, first), FIVE_MINUTES);
  const packed = Map.groupBy(days, ({ series_id }) => series_id);
  return found.map(({ series_id }, n) => {
    const values = [
      ...(packed.get(series_id) ?? []).flatMap(({ at, last }) =>
        Array.from({ length: DAY / FIVE_MINUTES }, (_, m) => ({
          at: at + m * FIVE_MINUTES,
          value: (last.length === 1 ? last[0] : last[m]) ?? null,
        })),
      ),
      ...runs.map((run) => ({ at: run.at - (run.at % FIVE_MINUTES), value: run.values[n] ?? null })),
    ];
    const measured = values.filter(({ at, value }) => value !== null && at >= first && at <= of.last);
    const points = measured.map(({ at, value }) => ({ at, values: [value] }));
    return { series_id, resolution: 'five_minutes', ...pointsOf(points, 0, 3 * FIVE_MINUTES) };
  });
}

async function readHours(of: Range, wanted: readonly number[]): Promise<History[]> {
  const hours = await hoursOf(of, wanted);
  return [...hours].map(([series_id, own]) => ({ series_id, resolution: 'hour', ...spread(own, HOUR) }));
}

/** The hours of each series; those that are not rolled up yet come from the runs. */
async function hoursOf(of: Range, wanted: readonly number[]): Promise<Map<number, Map<number, Summary>>> {
  const first = of.first - (of.first % HOUR);
  const rows = await of.read<SummaryRow>(selectHours, [...of.ids, wanted, first, of.last]);
  const { spans: hours, next } = elementsOf(rows, wanted, { first, last: of.last, seconds: HOUR });
  if (next > of.last) return hours;
  const recent = (await readSeries(of, wanted)).filter(
    ({ slot, seen }) => slot !== null && seen + DAY > next,
  );
  if (recent.length === 0) return hours;
  const runs = await readRuns(of, recent, next);
  for (const [n, { series_id }] of recent.entries()) {
    const own = hours.get(series_id);
    for (const [at, summary] of summarizeSpans(runs, n, HOUR)) own?.set(at, summary);
  }
  return hours;
}

async function readDays(of: Range, wanted: readonly number[]): Promise<History[]> {
  const first = of.first - (of.first % DAY);
  const rows = await of.read<SummaryRow>(selectDays, [...of.ids, wanted, first, of.last]);
  const { spans: days, next } = elementsOf(rows, wanted, { first, last: of.last, seconds: DAY });
  const today = of.now - (of.now % DAY);
  if (next < today && next <= of.last) {
    const from = Math.max(next, today - HOURS_KEPT_DAYS * DAY);
    for (const [series_id, hours] of await hoursOf({ ...of, first: from }, wanted)) {
      const own = days.get(series_id);
      for (const [at, summary] of joinSummaries(hours, DAY)) own?.set(at, summary);
    }
  }
  return [...days].map(([series_id, own]) => ({ series_id, resolution: 'day', ...spread(own, DAY) }));
}

/**
 * The elements of rows within the range, by series and time, and the time after the last element of any series: up to
 * there, the connection is rolled up. It is `first` where there is none.
 */
function elementsOf(
  rows: readonly SummaryRow[],
  wanted: readonly number[],
  { first, last, seconds }: { first: number; last: number; seconds: number },
): { spans: Map<number, Map<number, Summary>>; next: number } {
  const spans = new Map(wanted.map((id) => [id, new Map<number, Summary>()]));
  let next = first;
  for (const row of rows) {
    for (const [n, value] of row.last.entries()) {
      if (value === null) continue;
      const at = row.at + n * seconds;
      next = Math.max(next, at + seconds);
      if (at < first || at > last) continue;
      const minimum = row.minimum?.[n] ?? value;
      const maximum = row.maximum?.[n] ?? value;
      spans.get(row.series_id)?.set(at, { minimum, maximum, mean: row.mean?.[n] ?? value, last: value });
    }
  }
  return { spans, next };
}
