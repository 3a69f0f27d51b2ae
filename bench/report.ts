import { type Figure, shown } from './figure.ts';
import { plot } from './plot.ts';
import type { GeneralStanding } from './reads/general.ts';
import type { ReadStandings } from './reads/measure-reads.ts';
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
      'server, mix',
      'of bare',
      'answers a second',
      'p50, ms',
      'p99, ms',
      'CPU an answer, µs: server',
      'PostgreSQL',
      'load',
      'resident, MB',
    ],
    standings.map(({ name, ratio, rate, p50, p99, cpu, memory }) => [
      name,
      ...[ratio, rate, p50, p99, ...cpu, memory].map(shown),
    ]),
  );
}

/** A table of reads by the plain server and by the service. */
export function readTable(reads: readonly ReadStandings[]): string {
  return table(
    [
      'read',
      'plain server, /s',
      'dbvitals, /s',
      'ratio of rates',
      'CPU an answer, µs: plain, Node + PostgreSQL',
      'dbvitals, Node + PostgreSQL',
      'ratio of CPU',
      'reach',
    ],
    reads.map(({ read, plain, ours }) => [
      read.title,
      shown(plain.rate),
      shown(ours.rate),
      shown(ours.ratio),
      costOf(plain),
      costOf(ours),
      `**${shown(ours.thrift)}**`,
      `${read.reach}`,
    ]),
  );
}

/** A table of what the reads cost at least. */
export function limitTable(reads: readonly ReadStandings[]): string {
  return table(
    [
      'read',
      'bytes',
      'bare answer, Node',
      'bare select, Node + PostgreSQL',
      'both',
      'dbvitals',
      'times both',
    ],
    reads.map(({ read, bytes, ours, bare, select }) => {
      const [all, limit] = [total(ours), bare.cpu[0] + total(select)];
      return [
        read.title,
        shown(bytes),
        shown(bare.cpu[0]),
        costOf(select),
        shown(limit),
        shown(all),
        shown(all / limit),
      ];
    }),
  );
}

/** A table of reads by a general server and by the service. */
export function generalTable(general: readonly GeneralStanding[], reads: readonly ReadStandings[]): string {
  return table(
    ['read', 'PostGraphile, /s', 'CPU an answer, µs: Node + PostgreSQL', 'of the CPU of dbvitals'],
    general.map(({ title, standing }) => {
      const ours = reads.find(({ read }) => read.title === title)?.ours;
      const times = ours ? shown(total(standing) / total(ours)) : '';
      return [title, shown(standing.rate), costOf(standing), times];
    }),
  );
}

function costOf({ cpu: [server, postgres] }: Standing): string {
  return `${shown(server)} + ${shown(postgres)}`;
}

function total({ cpu: [server, postgres] }: Standing): number {
  return server + postgres;
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
