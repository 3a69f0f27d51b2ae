import { cpus } from 'node:os';
import { measureFleet } from './fleet-run.ts';
import { measureOneRun } from './one-run.ts';

// What a health check costs, and whether one monitor keeps up: `npm run bench:monitor`, with ` -- --full` for a fleet
// of 1,000 connections over five minutes instead of 200 over one. Needs Linux and a quiet machine.

const FULL = { connections: 1_000, seconds: 300 };
const SHORT = { connections: 200, seconds: 60 };

/** Prints a figure beside its limit; one that is not under it makes the benchmark fail. */
function figure(what: string, value: number, unit: string, limit?: number): void {
  const over = limit !== undefined && value >= limit;
  if (over) process.exitCode = 1;
  const beside = limit === undefined ? '' : ` (${over ? 'MISSED: ' : ''}must be under ${limit})`;
  console.log(`  ${what}: ${Number(value.toFixed(value < 10 ? 1 : 0))} ${unit}${beside}`);
}

const full = process.argv.includes('--full');
console.log(
  `${cpus().length} cores (${cpus()[0]?.model}), Node ${process.version}; monitor, store and watched server share them`,
);
await measureOneRun(figure);
await measureFleet(full ? FULL : SHORT, figure);
process.exit(); // children that wait for a next run would keep it alive
