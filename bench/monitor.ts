import { cpus } from 'node:os';
import { measureFleet } from './fleet-run.ts';
import { measureManyMysqlTables } from './many-mysql-tables.ts';
import { measureManyTables } from './many-tables.ts';
import { measureOneRun } from './one-run.ts';
import { measureRunCost } from './run-cost.ts';

// Measures the cost of a health check, and whether one monitor keeps up: `npm run bench:monitor`. ` -- --full` checks
// 1,000 connections over five minutes instead of 200 over one minute. ` -- --cost` measures only what a run costs an idle
// PostgreSQL and MariaDB; ` -- --tables 10000` only what a run costs a PostgreSQL with so many tables, check by check (it
// creates them first, which takes minutes), and ` -- --tables 10000 --mysql` a MariaDB, or the server that TEST_MYSQL_SERVER
// names, such as mysql-9.7. ` -- --fleet 400` checks 400 connections a minute without pulses, ` -- --fleet 400 --pulses` with
// them. Requires Linux and a quiet machine.

const FULL = { connections: 1_000, seconds: 300, pulses: true };
const SHORT = { connections: 200, seconds: 60, pulses: true };

/** Prints a figure and its limit. A figure that is not below its limit fails the benchmark. */
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
const tables = Number(process.argv[process.argv.indexOf('--tables') + 1]);
if (process.argv.includes('--tables')) {
  await (process.argv.includes('--mysql') ? measureManyMysqlTables : measureManyTables)(tables, figure);
} else if (process.argv.includes('--cost')) {
  await measureRunCost();
} else if (process.argv.includes('--fleet')) {
  const connections = Number(process.argv[process.argv.indexOf('--fleet') + 1]);
  await measureFleet({ connections, seconds: 60, pulses: process.argv.includes('--pulses') }, figure);
} else {
  await measureOneRun(figure);
  await measureFleet(full ? FULL : SHORT, figure);
}
process.exit(); // waiting child processes would keep it alive
