import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startTwoCells, urlOf } from '../test/cells/two-cells.ts';
import { SHIPPED_FLAGS } from '../test/support/shipped-flags.ts';
import { startTestStore, type TestStore } from '../test/support/store.ts';
import { cpuSeconds, postmasterOf, serverSeconds } from './cost.ts';
import { EMPTY_FOLDER } from './empty-folder.ts';
import { load } from './load.ts';
import { median } from './median.ts';
import { inTurn, messages } from './mixes.ts';

/**
 * What cells cost, in CPU time per answer, which other work on the machine changes little. Every answer is a recorded request
 * of the cached fleet endpoint, from 64 connections with 20 keys of 20 accounts.
 * `--before MAIN` compares one store with another version's `src/main.ts`; without it, one store with two cells.
 * `--rounds N` alternating rounds (10), `--seconds N` each (5).
 */
const { values } = parseArgs({
  options: {
    before: { type: 'string' },
    rounds: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '5' },
  },
});
const ROUNDS = Number(values.rounds);
const SECONDS = Number(values.seconds);
const CONNECTIONS = 64;
const ACCOUNTS = 20;
const BEFORE = 'the version before';
const EARLIER = 'earlier';
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** A service to measure, and the PostgreSQL servers behind it. */
interface Contestant {
  name: string;
  child: ChildProcess;
  port: number;
  stores: TestStore[];
  keys: string[];
  /** CPU microseconds per answer of each round. */
  server: number[];
  postgres: number[];
}

async function contestant(
  name: string,
  main: string,
  environment: Record<string, string>,
  stores: TestStore[],
): Promise<Contestant> {
  const child = spawn(process.execPath, [...SHIPPED_FLAGS, main, 'serve', '--no-monitor'], {
    cwd: EMPTY_FOLDER,
    env: { PATH: process.env['PATH'], PORT: '0', LOG_LEVEL: 'warn', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}.`)));
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const found = /ready on http:\/\/[^:]+:(\d+)/.exec(said)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
  });
  const keys: string[] = [];
  for (let n = 0; n < ACCOUNTS; n += 1) {
    const cell = stores.length > 1 ? ['--cell', String((n % stores.length) + 1)] : [];
    const options = ['--name', `bench ${n}`, '--plan', 'enterprise', '--requests-per-minute', '100000'];
    const { id } = await run<{ id: number }>(main, ['account', 'create', ...options, ...cell], environment);
    const made = ['key', 'create', '--account', `${id}`, '--name', 'bench'];
    keys.push((await run<{ key: string }>(main, made, environment)).key);
  }
  return { name, child, port, stores, keys, server: [], postgres: [] };
}

/** Runs a command of the program, and gives what it prints. */
async function run<T>(main: string, args: string[], environment: Record<string, string>): Promise<T> {
  const child = spawn(process.execPath, [main, ...args, '--json'], {
    cwd: EMPTY_FOLDER,
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed = await text(child.stdout);
  return JSON.parse(printed);
}

async function measure(one: Contestant, seconds: number, counts: boolean): Promise<void> {
  const pid = one.child.pid ?? 0;
  const used = () => ({
    server: cpuSeconds(pid),
    postgres: one.stores.reduce(
      (sum, store) => sum + serverSeconds(postmasterOf(String(store.address[0]?.host))),
      0,
    ),
  });
  const before = used();
  const next = inTurn(messages(one.keys, ['/health/fleet']));
  const { answers } = await load(one.port, next, { connections: CONNECTIONS, seconds });
  const after = used();
  if (!counts) return;
  one.server.push(((after.server - before.server) * 1e6) / answers);
  one.postgres.push(((after.postgres - before.postgres) * 1e6) / answers);
}

/** Each account's log has an entry per counted request, and no gap. */
async function gaps({ name, stores }: Contestant): Promise<number> {
  let wrong = 0;
  for (const store of stores) {
    const root = await store.superuser(name === BEFORE ? EARLIER : 'store');
    const { rows } = await root.query(
      `select count(*)::int as wrong from activity_head h
        where h.last_id <> (select count(*) from activity a where a.account_id = h.account_id)`,
    );
    wrong += rows[0].wrong;
  }
  return wrong;
}

const secret = { DBVITALS_SECRET_KEY: randomBytes(32).toString('hex') };
const one = await startTestStore();
const other = values.before === undefined ? null : await startTestStore();
const two = values.before === undefined ? await startTwoCells() : null;
const contestants: Contestant[] = [];
try {
  contestants.push(await contestant('one store', MAIN, { ...secret, DATABASE_URL: urlOf(one) }, [one]));
  if (values.before !== undefined && other) {
    // Its schema is older, so it makes its own in an empty database.
    await (await other.superuser()).query(`create database ${EARLIER}`);
    const url = urlOf(other).replace(/store$/, EARLIER);
    const environment = { ...secret, DATABASE_URL: url };
    contestants.push(await contestant(BEFORE, values.before, environment, [other]));
  }
  if (two) contestants.push(await contestant('two cells', MAIN, two.environment, [two.first, two.second]));
  for (const each of contestants) await measure(each, SECONDS, false);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const each of round % 2 === 0 ? contestants : contestants.toReversed())
      await measure(each, SECONDS, true);
  }
  const figures = contestants.map((each) => ({
    name: each.name,
    server: median(each.server),
    postgres: median(each.postgres),
  }));
  for (const { name, server, postgres } of figures) {
    console.log(
      `${name}: service ${server.toFixed(1)} µs, PostgreSQL ${postgres.toFixed(1)} µs of CPU per answer`,
    );
  }
  const [first, second] = figures;
  if (first && second) {
    const [from, to] = two ? [first, second] : [second, first];
    const ratio = (part: 'server' | 'postgres') => (to[part] / from[part]).toFixed(3);
    const all = ((to.server + to.postgres) / (from.server + from.postgres)).toFixed(3);
    console.log(
      `${to.name} / ${from.name}: service ${ratio('server')}, PostgreSQL ${ratio('postgres')}, both ${all}`,
    );
  }
  for (const each of contestants) console.log(`${each.name}: ${await gaps(each)} logs with a gap`);
} finally {
  for (const { child } of contestants) if (child.exitCode === null && child.kill()) await once(child, 'exit');
  await two?.stop();
  await Promise.all([one.stop(), other?.stop()]);
}
