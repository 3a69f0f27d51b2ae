import { measureAccounts } from './pulse/accounts.ts';
import { measureChains } from './pulse/chains.ts';
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

const MEASURED = {
  chains: measureChains,
  told: measureTold,
  many: measureManyPulses,
  cost: measureCost,
  accounts: measureAccounts,
  pages: measurePages,
  hostile: measureHostile,
};

/** Prints a figure and its limit. A figure that is over its limit fails the benchmark. */
function figure(what: string, value: number, unit: string, limit?: number): void {
  const isOver = limit !== undefined && value > limit;
  if (isOver) process.exitCode = 1;
  const beside = limit === undefined ? '' : ` (${isOver ? 'MISSED: ' : ''}at most ${limit})`;
  console.log(`  ${what}: ${Number(value.toFixed(value < 10 ? 2 : 0))} ${unit}${beside}`);
}

const names = process.argv.slice(2).filter((word) => word in MEASURED);
if (names.length === 0) {
  console.error(`Name what to measure: ${Object.keys(MEASURED).join(', ')}.`);
  process.exit(2);
}
for (const [name, measure] of Object.entries(MEASURED)) if (names.includes(name)) await measure(figure);
process.exit(); // waiting child processes would keep it alive
