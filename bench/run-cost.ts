import type { Target } from '../src/monitor/session/session.ts';
import { PostgresServer } from '../test/checks/postgres-server.ts';
import { MysqlServer } from '../test/mysql/mysql-server.ts';
import { median } from './median.ts';
import { steadyRuns } from './steady-run.ts';
import { postgresTarget, watcher } from './watched-target.ts';

// What a run costs the monitored server: `npm run bench:monitor -- --cost`. To compare two commits, run it in a worktree
// of each, in turn.

const RUNS = 30;

/** Prints the median cost of a run for an idle PostgreSQL and an idle MariaDB. */
export async function measureRunCost(): Promise<void> {
  const postgres = await PostgresServer.start();
  try {
    await costOf(postgresTarget(postgres));
  } finally {
    await postgres.stop();
  }
  const mariadb = await MysqlServer.start();
  try {
    await costOf({ ...watcher, engine: 'mariadb', host: mariadb.socket, port: 0, database: '' });
  } finally {
    await mariadb.stop();
  }
}

async function costOf(target: Target): Promise<void> {
  const costs: { milliseconds: number; statements: number; bytes: number }[] = [];
  const ofVitals: number[] = [];
  const run = steadyRuns(target);
  await run(); // fills caches, and reads what is read once an hour
  for (let n = 0; n < RUNS; n++) {
    let vitals = 0;
    const { cost } = await run((step, { ms }) => {
      if (step === 'vitals') vitals += Number(ms);
    });
    costs.push(cost);
    ofVitals.push(vitals);
  }
  const milliseconds = costs.map((cost) => cost.milliseconds);
  console.log(
    `${target.engine}: ${median(milliseconds)} ms in ${costs.at(-1)?.statements} statements, ${median(costs.map(({ bytes }) => bytes))} bytes read (median of ${RUNS} runs; fastest ${Math.min(...milliseconds)} ms); ${median(ofVitals)} ms of them for vitals`,
  );
}
