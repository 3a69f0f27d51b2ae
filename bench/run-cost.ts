import { randomBytes } from 'node:crypto';
import type { CounterBefore } from '../src/monitor/counters.ts';
import { measure } from '../src/monitor/measure.ts';
import type { NoteStep } from '../src/monitor/run-steps.ts';
import type { Target } from '../src/monitor/session/session.ts';
import type { KnownReading } from '../src/runs/changes/facts.ts';
import { PASSWORD, PostgresServer } from '../test/checks/postgres-server.ts';
import { MysqlServer } from '../test/mysql/mysql-server.ts';
import { median } from './median.ts';

// What a run costs the monitored server: `npm run bench:monitor -- --cost`. To compare two commits, run it in a worktree
// of each, in turn. A run compares itself with the one before, as the monitor's do.

const RUNS = 30;
const KEY = randomBytes(32).toString('base64');

/** Prints the median cost of a run for an idle PostgreSQL and an idle MariaDB. */
export async function measureRunCost(): Promise<void> {
  const postgres = await PostgresServer.start();
  try {
    const { host, port, database } = postgres;
    await costOf({ ...shared, engine: 'postgres', host, port, database });
  } finally {
    await postgres.stop();
  }
  const mariadb = await MysqlServer.start();
  try {
    await costOf({ ...shared, engine: 'mariadb', host: mariadb.socket, port: 0, database: '' });
  } finally {
    await mariadb.stop();
  }
}

const shared: Omit<Target, 'engine' | 'host' | 'port' | 'database'> = {
  connectionType: 'unix_socket',
  username: 'watcher',
  password: PASSWORD,
  tls: 'disable',
  passwordExposable: false,
  caCertificate: null,
  tunnel: null,
};

async function costOf(target: Target): Promise<void> {
  const costs: { milliseconds: number; statements: number; bytes: number }[] = [];
  const ofVitals: number[] = [];
  let before: CounterBefore[] = [];
  const known = new Map<string, KnownReading>();
  for (let run = 0; run <= RUNS; run++) {
    const signal = AbortSignal.timeout(60_000);
    let vitals = 0;
    const note: NoteStep = (step, { ms }) => {
      if (step === 'vitals') vitals += Number(ms);
    };
    const facts = { key: KEY, known: [...known.values()], started: null };
    const { cost, samples, readings } = await measure(target, {
      allowPrivateTargets: true,
      thresholds: {},
      before,
      facts,
      signal,
      note,
    });
    for (const { stored: _, ...reading } of readings) {
      known.set(`${reading.kind} ${reading.database}`, { ...reading, age: 60 });
    }
    if (run > 0) {
      costs.push(cost); // the first one fills caches, and reads what is read once an hour
      ofVitals.push(vitals);
    }
    const read = samples.map(({ after: _, ...sample }) => ({ ...sample, seconds: 60 }));
    const kept = before.filter(
      (one) => !read.some(({ checkId, database }) => checkId === one.checkId && database === one.database),
    );
    before = JSON.parse(JSON.stringify([...kept, ...read]));
  }
  const milliseconds = costs.map((cost) => cost.milliseconds);
  console.log(
    `${target.engine}: ${median(milliseconds)} ms in ${costs.at(-1)?.statements} statements, ${median(costs.map(({ bytes }) => bytes))} bytes read (median of ${RUNS} runs; fastest ${Math.min(...milliseconds)} ms); ${median(ofVitals)} ms of them for vitals`,
  );
}
