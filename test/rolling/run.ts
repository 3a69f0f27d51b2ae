import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startTwoCells, urlOf } from '../cells/two-cells.ts';
import { freePort } from '../contract/free-port.ts';
import { runJson } from '../contract/running-service.ts';
import { type Answer, FLEET, get, startLoad } from '../faults/load.ts';
import { SHIPPED_FLAGS } from '../support/shipped-flags.ts';
import { startTestStore } from '../support/store.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { makeNewerVersion } from './newer-version.ts';

/**
 * Runs two services behind a balancer that probes /readyz, under a constant request rate. Each is restarted in turn, then
 * again with a newer version whose migration changes the tables that requests write to. Fails unless every request was
 * answered with 200 and is in the log once, and the older version rejects the newer schema.
 * `--rate N` requests per second if the machine answers four times as many, else a quarter of what it answers: a starting service
 * needs the rest. `--drain N` seconds (0 shows the effect of draining), `--cells`: two stores, with an account in
 * each, whose requests alternate.
 */
const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '500' },
    drain: { type: 'string', default: '2' },
    cells: { type: 'boolean', default: false },
  },
});
const MOST_A_SECOND = Number(values.rate);
const TRIED_MS = 2_000;
const TICK_MS = 20;
// A started service is warm after this, and the balancer has seen it.
const SETTLE_MS = 3_000;
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

const scratch = mkdtempSync(join(tmpdir(), 'dbvitals-rolling-'));
const two = values.cells ? await startTwoCells() : null;
const stores = two ? [two.first, two.second] : [await startTestStore()];
const services: { port: number; child: ChildProcess }[] = [];
let balancer: Balancer | undefined;

try {
  const [first] = stores;
  const environment = {
    DBVITALS_SECRET_KEY: randomBytes(32).toString('hex'),
    ...(two ? two.environment : { DATABASE_URL: first ? urlOf(first) : '' }),
    DBVITALS_DRAIN_SECONDS: values.drain,
    LOG_LEVEL: 'warn',
  };
  for (let n = 0; n < 2; n += 1) {
    const port = await freePort();
    services.push({ port, child: await start(MAIN, port, environment) });
  }
  const keys: string[] = [];
  for (const at of stores.keys()) {
    const named = ['--name', 'Rolling', '--plan', 'enterprise', '--requests-per-minute', '100000'];
    const cell = two ? ['--cell', `${at + 1}`] : [];
    const { id } = await runJson<{ id: number }>(['account', 'create', ...named, ...cell], environment);
    const issue = ['key', 'create', '--account', `${id}`, '--name', 'rolling'];
    keys.push((await runJson<{ key: string }>(issue, environment)).key);
  }

  balancer = await startBalancer(services.map(({ port }) => port));
  while (balancer.ready().length < 2) await wait(100);
  const origin = `http://127.0.0.1:${balancer.port}`;
  const tried = startLoad(keys[0] ?? '', () => origin, { pauseMs: 0, paths: [FLEET] });
  await wait(TRIED_MS);
  await tried.stop();
  const rate = Math.min(MOST_A_SECOND, tried.answers.length / (TRIED_MS / 1_000) / 4);
  const load = startSchedule(`${origin}${FLEET}`, keys, rate);
  await wait(SETTLE_MS);
  for (const [version, main] of [
    ['the same version', MAIN],
    ['a newer version with a migration', makeNewerVersion(join(scratch, 'newer'))],
  ] as const) {
    for (const service of services) {
      const began = performance.now();
      service.child.kill('SIGTERM');
      const [code] = await once(service.child, 'exit');
      const stopped = performance.now();
      service.child = await start(main, service.port, environment);
      while (!balancer.ready().includes(service.port)) await wait(50);
      const seconds = [stopped - began, performance.now() - stopped].map((ms) => (ms / 1000).toFixed(1));
      console.log(
        `${service.port} with ${version}: exit code ${code} after ${seconds[0]} s, back after ${seconds[1]} s`,
      );
      await wait(SETTLE_MS);
    }
  }
  const { answers, broken } = await load.stop();
  const all = [...tried.answers, ...answers];
  const older = await run(MAIN, ['account', 'list'], environment);

  const rows: { request_id: string }[] = [];
  let gaps = 0;
  for (const store of stores) {
    const root = await store.superuser('store');
    const found = await root.query<{ request_id: string }>(
      `select request_id from activity where action_type = 'api_request'`,
    );
    rows.push(...found.rows);
    const { rows: heads } = await root.query<{ gaps: number }>(
      `select sum(h.last_id - (select count(*) from activity a where a.account_id = h.account_id))::int as gaps
         from activity_head h`,
    );
    gaps += heads[0]?.gaps ?? 0;
  }
  const logged = new Set(rows.map(({ request_id }) => request_id));
  const times = answers.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const at = (share: number) => `${Math.round(times[Math.floor(share * (times.length - 1))] ?? 0)} ms`;
  const notOk = all.filter(({ status }) => status !== 200);
  const unlogged = all.filter(({ status, id: request }) => status === 200 && !logged.has(request));
  const twice = rows.length - logged.size;
  console.log(
    `${answers.length} requests, ${Math.round(rate)} a second; p50 ${at(0.5)}, p99 ${at(0.99)}, most ${at(1)}`,
  );
  console.log(
    `failed: ${notOk.length} answers were not 200, ${broken} broke off; balancer: ${balancer.failed.length}`,
  );
  for (const why of new Set(balancer.failed)) console.log(`  ${why}`);
  console.log(`log: ${rows.length} entries, ${unlogged.length} missing, ${twice} twice, ${gaps} gaps`);
  console.log(`the older version then: exit code ${older.code}, ${older.said.trim()}`);
  const fine =
    notOk.length + broken + balancer.failed.length + unlogged.length + twice + gaps === 0 &&
    rows.length === all.length &&
    older.code === 1 &&
    older.said.includes('newer than this dbvitals');
  console.log(fine ? 'rolling restart: nothing lost, nothing refused' : 'rolling restart: FAILED');
  process.exitCode = fine ? 0 : 1;
} finally {
  await balancer?.close();
  for (const { child } of services) if (child.exitCode === null && child.kill()) await once(child, 'exit');
  await (two ? two.stop() : Promise.all(stores.map((store) => store.stop())));
  rmSync(scratch, { recursive: true, force: true });
}

/** Starts a service and waits until it reports that it is ready. */
async function start(main: string, port: number, environment: Record<string, string>): Promise<ChildProcess> {
  const args = [...SHIPPED_FLAGS, main, 'serve', '--no-monitor'];
  const child = spawn(process.execPath, args, {
    cwd: scratch,
    env: { PATH: process.env['PATH'], PORT: `${port}`, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`A service ended with ${code} instead of starting.`)));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('ready on')) resolve();
    });
  });
  return child;
}

async function run(main: string, args: string[], environment: Record<string, string>) {
  const child = spawn(process.execPath, [main, ...args], {
    cwd: scratch,
    env: { PATH: process.env['PATH'], ...environment },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const [code] = await once(child, 'close');
  return { code: code as number | null, said };
}

/** Sends requests at a constant rate, regardless of the answers. */
function startSchedule(url: string, keys: readonly string[], rate: number) {
  const agent = new http.Agent({ keepAlive: true });
  const answers: Answer[] = [];
  const under: Set<Promise<void>> = new Set();
  const began = performance.now();
  let sent = 0;
  let broken = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - began) / 1000) * rate;
    for (; sent < due; sent += 1) {
      const one: Promise<void> = get(url, keys[sent % keys.length] ?? '', { agent })
        .then(
          (answer) => void answers.push(answer),
          () => {
            broken += 1;
          },
        )
        .finally(() => under.delete(one));
      under.add(one);
    }
  }, TICK_MS);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(under);
      agent.destroy();
      return { answers, broken };
    },
  };
}
