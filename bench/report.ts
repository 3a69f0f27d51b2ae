import { type Figure, shown } from './figure.ts';
import { plot } from './plot.ts';
import type { Standing } from './rounds.ts';
import type { CostAgainstSize } from './size.ts';

/** Where `bench/RESULTS.md` expects the plot. */
export const PLOT = 'cost-against-size.svg';

/** A table of figures and their limits. */
export function figureTable(figures: readonly Figure[]): string {
  return table(
    ['figure', 'reach', 'seen', 'reached'],
    figures.map(({ what, reach, seen, reached }) => [what, reach, seen, reached ? 'yes' : '**no**']),
  );
}

/** A table of the servers' rates under the same load. */
export function standingTable(standings: readonly Standing[]): string {
  return table(
    [
      ...['server, mix', 'of bare', 'answers a second', 'p50, ms', 'p99, ms'],
      ...['CPU an answer, µs: server', 'PostgreSQL', 'load', 'resident, MB'],
    ],
    standings.map(({ name, ratio, rate, p50, p99, cpu, memory }) => [
      name,
      ...[ratio, rate, p50, p99, ...cpu, memory].map(shown),
    ]),
  );
}

/** A table of medians in milliseconds, with a column for each size. */
export function costTable(sizes: readonly number[], costs: readonly CostAgainstSize[]): string {
  return table(
    ['median, ms', 'largest : smallest', ...sizes.map((size) => size.toLocaleString('en-US'))],
    costs.map(({ name, medians }) => [
      name,
      ...[(medians.at(-1) ?? 0) / (medians[0] ?? 1), ...medians].map(shown),
    ]),
  );
}

const LINES = new Map([
  ['desc, first page', 'page 1'],
  ['desc, last page', 'last page'],
  ['health checks, last page', 'by type, last page'],
  ['dates, last page', 'by dates, last page'],
]);

/** The plot of some of the costs. */
export function costPlot(sizes: readonly number[], costs: readonly CostAgainstSize[]): string {
  const lines = costs.flatMap(({ name, medians }) => {
    const told = LINES.get(name);
    return told === undefined ? [] : [{ name: told, values: medians }];
  });
  return plot('A page of 100 of the activity log', sizes, lines, 5);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
