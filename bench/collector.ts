import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { issueToken } from '../src/accounts/collectors/issue-token.ts';
import { changeAccount } from '../src/activity/record-entry.ts';
import { PASSWORD, PostgresServer } from '../test/checks/postgres-server.ts';
import { SHIPPED_FLAGS } from '../test/support/shipped-flags.ts';
import { startTestStore, type TestStore } from '../test/support/store.ts';
import { EMPTY_FOLDER } from './empty-folder.ts';
import { DATABASES, lateness, makeDatabases, noteClaims, spreadDue } from './fleet-run.ts';
import { memoryOf } from './processes.ts';
import { countPulseSessions, lateBy, watchPulses } from './pulse/watch-pulses.ts';
import { buildProgram } from './servers.ts';
import { startProgram, stopProgram } from './start-program.ts';

// Measures a collector as it is shipped: its memory while idle, and 500 connections that it checks every 5 minutes and pulses every 10 s:
// `npm run bench:collector`. ` -- --short` has 50 connections at a minute. Requires Linux and a quiet machine.

const BUILT = join(import.meta.dirname, '../dist/src/dbvitals.js');
const FULL = { connections: 500, seconds: 300 };
const SHORT = { connections: 50, seconds: 60 };
const IDLE_S = 20;
const PULSE_S = 10;
const LATE_LIMIT_S = 30;
const PULSE_LATE_LIMIT_S = 1;
const MEMORY_LIMIT_MB = 400;
const IDLE_LIMIT_MB = 60;

let hasMissed = false;

/** Prints a figure and its limit. */
function figure(what: string, value: number, unit: string, limit?: number): void {
  const over = limit !== undefined && value >= limit;
  hasMissed ||= over;
  const beside = limit === undefined ? '' : ` (${over ? 'MISSED: ' : ''}must be under ${limit})`;
  console.log(`  ${what}: ${Number(value.toFixed(value < 10 ? 1 : 0))} ${unit}${beside}`);
}

/** A port that is free now. */
async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, '127.0.0.1', () => {
    const address = server.address();
    server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
  });
  return promise;
}

/** A collector's folder with its token and a file without connections. */
async function enrol(store: TestStore, accountId: number, folder: string): Promise<number> {
  const issued = await changeAccount(store.writer, accountId, (change) => issueToken(change, 'bench'));
  mkdirSync(join(folder, 'key'), { mode: 0o700 });
  writeFileSync(join(folder, 'token'), issued.token, { mode: 0o600 });
  writeFile(folder, {});
  return issued.id;
}

function writeFile(folder: string, connections: object): void {
  writeFileSync(join(folder, 'collector.yaml'), JSON.stringify({ connections }), { mode: 0o600 });
}

function startCollector(folder: string, port: number): ChildProcess {
  const files = ['--file', 'collector.yaml', '--token-file', 'token', '--folder', 'key'];
  const args = ['collect', '--url', `http://127.0.0.1:${port}`, '--name', 'bench', ...files];
  return spawn(process.execPath, [...SHIPPED_FLAGS, BUILT, ...args, '--concurrency', '4'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder },
    stdio: ['ignore', 'ignore', openSync(join(folder, 'log'), 'a')],
  });
}

/** The end of what the collector logged. */
function readLastLines(folder: string): string {
  return readFileSync(join(folder, 'log'), 'utf8').trimEnd().split('\n').slice(-5).join('\n');
}

/** Adds connections of the collector, each under a name of its own in its file, on 50 databases of one server. */
async function addConnections(
  store: TestStore,
  { host, port }: PostgresServer,
  of: { accountId: number; collectorId: number; count: number },
): Promise<Record<string, { url: string }>> {
  const file: Record<string, { url: string }> = {};
  for (let n = 0; n < of.count; n++) {
    const name = `fleet ${n}`;
    const place = { name, connection_type: 'direct', host: 'collector/bench', database: '', username: '' };
    const connectionId = await store.connection(of.accountId, place);
    await store.writer.query(
      'insert into collected_connection (account_id, connection_id, collector_id, name) values ($1, $2, $3, $4)',
      [of.accountId, connectionId, of.collectorId, name],
    );
    const own = (n % DATABASES) + 1;
    const login = `r${own}:${encodeURIComponent(PASSWORD)}`;
    file[name] = { url: `postgres://${login}@${encodeURIComponent(host)}:${port}/d${own}` };
  }
  await store.writer.query('update connection set pulse_seconds = $2 where account_id = $1', [
    of.accountId,
    PULSE_S,
  ]);
  return file;
}

async function measure({ connections, seconds }: typeof FULL): Promise<void> {
  const [store, server] = await Promise.all([startTestStore(), PostgresServer.start()]);
  const folder = mkdtempSync(join(tmpdir(), 'dbvitals-collector-'));
  const port = await freePort();
  let collector: ChildProcess | undefined;
  const service = startProgram(store, 'serve', { PORT: String(port), DBVITALS_DATA_DIR: EMPTY_FOLDER });
  try {
    await makeDatabases(server, connections);
    const accountId = await store.account();
    const collectorId = await enrol(store, accountId, folder);
    await wait(5_000);
    await stopProgram(startCollector(folder, port)); // compiles the code, as the first start of an operator does
    collector = startCollector(folder, port);
    await wait(IDLE_S * 1_000);
    if (collector.exitCode !== null) throw new Error(`The collector ended: ${readLastLines(folder)}`);
    const idle = memoryOf(collector.pid ?? 0);
    figure('idle memory without the file cache, with its children', idle.anonymous, 'MB', IDLE_LIMIT_MB);
    figure('idle memory, resident', idle.rss, 'MB');
    figure('idle memory, with shared pages counted once', idle.pss, 'MB');
    writeFile(folder, await addConnections(store, server, { accountId, collectorId, count: connections }));
    await noteClaims(store);
    await spreadDue(store, seconds);
    const client = await server.open();
    const peak = { pss: 0, rss: 0, processes: 0 };
    const until = Date.now() + (seconds + 90) * 1_000;
    // A connection is pulsed from its first run on, and the runs are spread over the interval.
    const pulses = wait(60_000).then(() => watchPulses(client, seconds));
    while (Date.now() < until && collector.exitCode === null) {
      const now = memoryOf(collector.pid ?? 0);
      if (now.pss > peak.pss) Object.assign(peak, now);
      await wait(1_000);
    }
    const superuser = await store.superuser('store');
    await superuser.query(
      'delete from bench_claim where connection_id not in (select connection_id from collected_connection)',
    );
    const late = await lateness(store);
    const latePulses = lateBy(await pulses, PULSE_S);
    const sessions = await countPulseSessions(client);
    await client.end();
    figure('runs handed out', late.claims, '');
    figure('connections never run', connections - late.connections, '', 1);
    figure('largest lateness of a start', late.largest, 's', LATE_LIMIT_S);
    figure('99th percentile', late.p99, 's');
    figure('longest from due to stored', late.stored, 's');
    figure('runs that found a connection unreachable', late.unreachable, '', 1);
    figure('pulses', latePulses.length, '');
    figure('connections without a session that pulses', connections - sessions, '', 1);
    const p99 = latePulses[Math.floor(latePulses.length * 0.99)] ?? Infinity;
    figure(`later than ${PULSE_S} s after the one before, p99`, p99, 's', PULSE_LATE_LIMIT_S);
    figure(`peak memory of ${peak.processes} processes`, peak.pss, 'MB', MEMORY_LIMIT_MB);
    figure('resident, with shared pages counted in each process', peak.rss, 'MB');
    if (hasMissed) console.log(readLastLines(folder));
  } finally {
    if (collector) await stopProgram(collector);
    await stopProgram(service);
    await Promise.all([store.stop(), server.stop()]);
    rmSync(folder, { recursive: true });
  }
}

buildProgram();
const extent = process.argv.includes('--short') ? SHORT : FULL;
console.log(
  `a collector with ${extent.connections} connections, each due every ${extent.seconds} s and pulsed every ${PULSE_S} s; the machine's load is ${loadavg()[0]?.toFixed(1)}`,
);
await measure(extent);
process.exit(hasMissed ? 1 : 0);
