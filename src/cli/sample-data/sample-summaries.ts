import type { Curve, SampleSeries } from './sample-curves.ts';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const HOURS_KEPT_S = 60 * DAY_S;
const DAYS_KEPT_S = 395 * DAY_S;
/** How many values of an hour are looked at. */
const VALUES_AN_HOUR = 3;
/** Days whose hours are not kept are summed up of fewer hours. */
const STEP_OF_OLD_DAYS_S = 3 * HOUR_S;

type Summary = Record<'minimum' | 'maximum' | 'mean' | 'last', number> | null;

/** The rows of hours and days, as the roll-up would make them. `from` to `hoursTo` and `daysTo` are Unix times. */
export function summarize(
  series: readonly SampleSeries[],
  { from, hoursTo, daysTo }: { from: number; hoursTo: number; daysTo: number },
): { hours: object[]; days: object[] } {
  const hours: object[] = [];
  const days: object[] = [];
  const firstHour = Math.ceil(Math.max(from, hoursTo - HOURS_KEPT_S) / DAY_S) * DAY_S;
  for (const [n, one] of series.entries()) {
    const toRow = (span: 'day' | 'month', at: number, elements: readonly Summary[]) => ({
      series_id: n + 1,
      [span]: toDate(at),
      ...toColumns(elements, one.grows === true),
    });
    const byMonth = new Map<number, Summary[]>();
    for (
      let day = Math.ceil(Math.max(from, hoursTo - DAYS_KEPT_S) / DAY_S) * DAY_S;
      day < hoursTo;
      day += DAY_S
    ) {
      const hoursOfDay: Summary[] = [];
      const step = day < firstHour ? STEP_OF_OLD_DAYS_S : HOUR_S;
      for (let at = day; at < Math.min(day + DAY_S, hoursTo); at += step) {
        hoursOfDay.push(sumUpHour(one.curve, at));
      }
      if (day >= firstHour && hoursOfDay.some(Boolean)) hours.push(toRow('day', day, hoursOfDay));
      if (day >= daysTo) continue;
      const date = new Date(day * 1_000);
      const month = Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / 1_000;
      const ofMonth = byMonth.get(month) ?? [];
      byMonth.set(month, ofMonth);
      while (ofMonth.length < date.getUTCDate() - 1) ofMonth.push(null);
      ofMonth.push(join(hoursOfDay));
    }
    for (const [month, daysOfMonth] of byMonth)
      if (daysOfMonth.some(Boolean)) days.push(toRow('month', month, daysOfMonth));
  }
  return { hours, days };
}

/** What the values of an hour are summed up to. */
function sumUpHour(curve: Curve, from: number): Summary {
  let [minimum, maximum, sum, count, last] = [Infinity, -Infinity, 0, 0, 0];
  for (let n = 1; n <= VALUES_AN_HOUR; n++) {
    const value = curve(from + (n * HOUR_S) / VALUES_AN_HOUR - 1);
    if (value === null) continue;
    minimum = Math.min(minimum, value);
    maximum = Math.max(maximum, value);
    sum += value;
    count++;
    last = value;
  }
  return count === 0 ? null : { minimum, maximum, mean: sum / count, last };
}

function join(summaries: readonly Summary[]): Summary {
  const known = summaries.filter((summary) => summary !== null);
  const last = known.at(-1);
  if (!last) return null;
  return {
    minimum: Math.min(...known.map(({ minimum }) => minimum)),
    maximum: Math.max(...known.map(({ maximum }) => maximum)),
    mean: known.reduce((sum, { mean }) => sum + mean, 0) / known.length,
    last: last.last,
  };
}

/** What only grows has its last value as that of the whole hour or day: its other columns are null. */
function toColumns(elements: readonly Summary[], onlyLast: boolean) {
  const column = (name: keyof NonNullable<Summary>) =>
    elements.map((element) => roundValue(element?.[name] ?? null));
  const unless = (name: keyof NonNullable<Summary>) => (onlyLast ? null : column(name));
  return {
    minimum: unless('minimum'),
    maximum: unless('maximum'),
    mean: unless('mean'),
    last: column('last'),
  };
}

function toDate(at: number): string {
  return new Date(at * 1_000).toISOString().slice(0, 10);
}

/** No more digits than a `real` holds: fewer are faster. */
export function roundValue(value: number | null): number | null {
  if (value === null) return null;
  return value < 1_000 ? Math.round(value * 1e7) / 1e7 : Math.round(value);
}
