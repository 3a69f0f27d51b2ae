import { csvText } from '../../../../src/platform/text/csv-text.ts';
import type { Points } from './chart-data.ts';

/** History is stored in single precision: seven digits, and the rest is noise. */
function numberText(value: number | null | undefined): string {
  return typeof value === 'number' ? String(Number(value.toPrecision(7))) : '';
}

/** Series as CSV: one line per time (UTC), oldest first; for hours and days also minimum, maximum and mean. */
export function csvOf(series: readonly { label: string; points: Points }[]): string {
  const columns = series.flatMap(({ label, points: { at, last, minimum, maximum, mean } }) => {
    const parts = { last, minimum, maximum, mean };
    return Object.entries(parts).flatMap(([part, values]) =>
      values
        ? [
            {
              name: mean ? `${label} ${part}` : label,
              values: new Map(at.map((time, index) => [time, values[index]])),
            },
          ]
        : [],
    );
  });
  const times = [...new Set(series.flatMap(({ points }) => points.at))].sort((a, b) => a - b);
  const lines = times.map((time) => [
    new Date(time * 1_000).toISOString(),
    ...columns.map(({ values }) => numberText(values.get(time))),
  ]);
  // Names come from the monitored server.
  return [['time', ...columns.map(({ name }) => csvText(name))], ...lines]
    .map((line) => `${line.join(',')}\n`)
    .join('');
}
