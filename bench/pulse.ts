import { parseArgs } from 'node:util';
import type { Figure } from './one-run.ts';
import { measureAccounts } from './pulse/accounts.ts';
import { ALL_CHAINS, measureChains } from './pulse/chains.ts';
import { measureCost } from './pulse/cost.ts';
import { measureHostile } from './pulse/hostile.ts';
import { measureManyPulses } from './pulse/many.ts';
import { measurePages } from './pulse/pages.ts';
import { measureTold } from './pulse/told.ts';

// What the pulse finds, how fast a person is told, and what it costs: `npm run bench:pulse -- NAME`. `chains` provokes 20 chains
// of blocked sessions on PostgreSQL, or with `--mysql` on the server that TEST_MYSQL_SERVER names; `told` measures from a fault to
// the message and from its end to the next, for 20 connections; `many` has 1,000 connections of one account; `cost` is what a pulse takes of
// a server with 500 sessions, also with `--mysql`; `accounts` is the memory of 100 accounts, or of `--accounts 20`; `pages` does ordinary work
// for an hour, or for `--minutes 10`; `hostile` has 50 connections beside hostile servers of their account. Linux, a quiet machine, two to six minutes each.
// CI has smaller forms of most (`test/faults/pulse-figures.ts`).

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    mysql: { type: 'boolean', default: false },
    accounts: { type: 'string', default: '100' },
    minutes: { type: 'string', default: '60' },
  },
});

const MEASURED: Readonly<Record<string, (figure: Figure) => Promise<void>>> = {
  chains: (figure) => measureChains(figure, { ...ALL_CHAINS, isMysql: values.mysql }),
  told: measureTold,
  many: measureManyPulses,
  cost: (figure) => measureCost(figure, values.mysql),
  accounts: (figure) => measureAccounts(figure, Number(values.accounts)),
  pages: (figure) => measurePages(figure, Number(values.minutes)),
  hostile: measureHostile,
};

/** Prints a figure and its limit. A figure that is over its limit fails the benchmark. */
function figure(what: string, value: number, unit: string, limit?: number): void {
  const isOver = limit !== undefined && value > limit;
  if (isOver) process.exitCode = 1;
  const beside = limit === undefined ? '' : ` (${isOver ? 'MISSED: ' : ''}at most ${limit})`;
  console.log(`  ${what}: ${Number(value.toFixed(value < 10 ? 2 : 0))} ${unit}${beside}`);
}

if (names.length === 0 || names.some((name) => !(name in MEASURED))) {
  console.error(`Name what to measure: ${Object.keys(MEASURED).join(', ')}.`);
  process.exit(2);
}
for (const [name, measure] of Object.entries(MEASURED)) if (names.includes(name)) await measure(figure);
process.exit(); // waiting child processes would keep it alive
