import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { urlOf } from '../cells/two-cells.ts';
import {
  type Environment,
  type Process,
  runJson,
  type Service,
  startProcess,
  startService,
} from '../contract/running-service.ts';
import { Seen } from '../faults/fault.ts';
import { judge } from '../faults/judge.ts';
import { type Load, startLoad } from '../faults/load.ts';
import { UNLIMITED } from '../faults/stage.ts';
import { LONGEST_ANSWER_MS, longest, served } from '../faults/store-ends.ts';
import { startTestStore, type TestStore } from '../support/store.ts';
import { type PatroniCluster, type PatroniNode, startPatroniCluster } from './patroni-cluster.ts';
import { type KeyEntry, replayLimit } from './replay-limit.ts';

/**
 * Runs two services and a monitor on a Patroni cluster of three nodes in synchronous mode, under load with four keys of three
 * accounts. The primary's node is killed again and again, then frozen and continued, then switched over. The second service
 * starts while there is no primary. Nothing is restarted but by its supervisor. Fails unless no answered request is missing, the
 * log has no gaps, limits are exact, and the same processes serve and measure again in time. With `--cell` the cluster is cell 2,
 * beside an ordinary store as cell 1 whose account must notice nothing. Requires Debian's `postgresql`, `patroni` and
 * `etcd-server`. `--kills N` for another number of kills.
 */
const { values } = parseArgs({
  options: { kills: { type: 'string', default: '5' }, cell: { type: 'boolean', default: false } },
});
const KILLS = Number(values.kills);
const LIMIT = 30;
/** `ttl`, and the time to notice, promote and connect. */
const BACK_S = 40;
/** That, the time after which a statement without an answer ends, and the processes that a health check starts. */
const CHECKED_S = 90;
// Requests of 200 before each fault, so that each fault hits a service under load.
const WARM = 300;

const folder = mkdtempSync(join(tmpdir(), 'dbvitals-patroni-'));
chmodSync(folder, 0o711);
let cluster: PatroniCluster | undefined;
/** Cell 1, with `--cell`. */
let plain: TestStore | undefined;
const processes: Process[] = [];
const loads: Load[] = [];
/** The load of an account of cell 1. */
let neighbour: Load | undefined;
let done = false;
// An interrupted run leaves no servers.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void clean().then(() => process.exit(1)));
try {
  if (values.cell) plain = await startTestStore();
  cluster = await startPatroniCluster(folder);
  const seen = await run(cluster);
  console.log(`${seen}`);
  console.log(seen.reached ? 'Patroni: nothing lost' : 'Patroni: FAILED');
  process.exitCode = seen.reached ? 0 : 1;
} catch (error) {
  console.log(cluster?.logs());
  throw error;
} finally {
  await clean();
}

async function clean(): Promise<void> {
  if (done) return;
  done = true;
  await Promise.all([...loads, ...(neighbour ? [neighbour] : [])].map((load) => load.stop()));
  await Promise.all(processes.map((each) => each.stop()));
  await Promise.all([cluster?.stop(), plain?.stop()]);
  rmSync(folder, { recursive: true, force: true });
}

async function run(patroni: PatroniCluster): Promise<Seen> {
  const password = randomBytes(16).toString('hex');
  const root = async (database: string) => connect(await patroni.whole(), patroni.password, database);
  const setUp = await root('postgres');
  await setUp.query(`create role dbvitals login createrole password '${password}'`);
  await setUp.query('create database dbvitals owner dbvitals');
  const { rows: versions } = await setUp.query<{ server_version: string }>('show server_version');
  await setUp.end();

  const hosts = patroni.nodes.map(({ port }) => `127.0.0.1:${port}`).join();
  const url = `postgres://dbvitals:${password}@${hosts}/dbvitals?target_session_attrs=read-write`;
  const environment = {
    ...(plain ? { DBVITALS_CELLS_FILE: cellsFile(plain, url) } : { DATABASE_URL: url }),
    DBVITALS_SECRET_KEY: randomBytes(32).toString('hex'),
  };
  const first = await startService(environment, ['--no-monitor']);
  const services = [first];
  const monitor = startProcess(['monitor'], { ...environment, LOG_LEVEL: 'info' });
  processes.push(first, monitor);
  let ended = 0;
  for (const each of processes) void each.ended.then(() => (ended += 1));
  const account = async (...limit: string[]) => {
    const named = ['--name', 'Patroni', '--plan', 'enterprise', ...(plain ? ['--cell', '2'] : []), ...limit];
    return (await runJson<{ id: number }>(['account', 'create', ...named], environment)).id;
  };
  const issue = (id: number) =>
    runJson<{ id: number; key: string }>(
      ['key', 'create', '--account', `${id}`, '--name', 'patroni'],
      environment,
    );
  const [busy, other] = [await account(...UNLIMITED), await account(...UNLIMITED)];
  const limited = await issue(await account('--requests-per-minute', `${LIMIT}`));
  const origin = (loop: number) => services[loop % services.length]?.origin ?? first.origin;
  const load = (key: string, width: number, pauseMs: number) => {
    const started = startLoad(key, origin, { width, pauseMs });
    loads.push(started);
    return started;
  };
  if (plain) {
    const { id } = await runJson<{ id: number }>(
      ['account', 'create', '--name', 'beside', '--plan', 'enterprise', '--cell', '1', ...UNLIMITED],
      environment,
    );
    neighbour = startLoad((await issue(id)).key, origin, { width: 1, pauseMs: 20 });
  }
  const measured = load((await issue(busy)).key, 4, 5);
  for (const id of [busy, other]) load((await issue(id)).key, 4, 5);
  load(limited.key, 1, 100);
  // Nobody answers there, so a health check takes no time.
  const watched = ['--name', 'watched', '--url', 'postgres://u:p@127.0.0.1:1/d'];
  await runJson(['connection', 'add', '--account', `${busy}`, ...watched], environment);
  await monitor.says(/health check completed/);

  console.log(`PostgreSQL ${versions[0]?.server_version}, ${patroni.description}`);
  console.log('| fault | node | promoted after | serving again after | health checks again after | 500s |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  let [slowest, latest] = [0, 0];
  const provoke = async (fault: string, end: (leader: PatroniNode) => Promise<void> | void) => {
    const leader = await patroni.whole();
    await served(measured, performance.now(), WARM);
    const checks = checksOf(monitor);
    const began = performance.now();
    await end(leader);
    const lead = await newLeader(patroni, leader);
    const promoted = performance.now();
    await served(measured, promoted, WARM);
    const { refused, back } = outageSince(began);
    const query = await connect(lead, patroni.password, 'dbvitals');
    while (checksOf(monitor) === checks && performance.now() < began + 120_000) {
      await query.query('update connection_schedule set due_at = now()');
      await wait(200);
    }
    const checked = performance.now();
    await query.end();
    slowest = Math.max(slowest, back - began);
    latest = Math.max(latest, checked - began);
    const seconds = [promoted, back, checked].map((at) => `${((at - began) / 1_000).toFixed(1)} s`);
    console.log(`| ${fault} | ${leader.name} → ${lead.name} | ${seconds.join(' | ')} | ${refused} |`);
    return lead;
  };
  let starting: ReturnType<typeof startSupervised> | undefined;
  for (let n = 1; n <= KILLS; n += 1) {
    await provoke(`kill -9, ${n}`, async (leader) => {
      await patroni.kill(leader);
      starting ??= startSupervised(environment);
    });
  }
  const started = await starting;
  if (started) services.push(started.service);
  let thaw = () => {};
  const successor = await provoke('freeze', (leader) => {
    thaw = patroni.freeze(leader);
  });
  const thawed = performance.now();
  thaw();
  const whole = await patroni.whole();
  await served(measured, performance.now(), WARM);
  const late = outageSince(thawed).refused;
  await provoke('switchover', (leader) => patroni.switchover(leader));
  await patroni.whole();
  await served(measured, performance.now(), WARM);
  await Promise.all([...loads, ...(neighbour ? [neighbour] : [])].map((load) => load.stop()));

  const answers = loads.flatMap((load) => load.answers);
  const query = async <T extends pg.QueryResultRow>(text: string, parameters: unknown[] = []) => {
    const client = await root('dbvitals');
    try {
      return (await client.query<T>(text, parameters)).rows;
    } finally {
      await client.end();
    }
  };
  const { missing, twice, outOfOrder } = await judge({ query }, answers);
  const windows = replayLimit(
    await query<KeyEntry & pg.QueryResultRow>(
      `select status, extract(epoch from occurred_at)::float8 * 1000 as at
         from activity where api_key_id = $1 order by id`,
      [limited.id],
    ),
    LIMIT,
  );
  const odd = loads.flatMap((load) => load.odd).filter((text) => !text.startsWith('429 '));
  for (const text of new Set(odd)) console.log(`  ${text}`);
  return (
    new Seen()
      .none(missing, `of ${answers.length} answers missing`)
      .none(twice, 'duplicates')
      .none(outOfOrder, 'out of order')
      .atLeast(answers.filter(({ status }) => status === 500).length, 1, '500s')
      .none(odd.length, 'other than 200, 500 and the limited key’s 429')
      .none(
        loads
          .slice(0, -1)
          .flatMap(({ answers: others }) => others)
          .filter(({ status }) => status === 429).length,
        '429 of the other keys',
      )
      .none(
        loads.reduce((sum, { broken }) => sum + broken, 0),
        'broken off',
      )
      .atMost(Math.max(...loads.map(longest)), LONGEST_ANSWER_MS / 1_000, 'slowest answer', ' s')
      .atMost(slowest / 1_000, BACK_S, 'serving again after at most', ' s')
      .atMost(latest / 1_000, CHECKED_S, 'health checks again after at most', ' s')
      .atLeast(windows.count, 2, 'windows')
      .atLeast(windows.refused, 1, '429s')
      .none(windows.wrong, 'admitted over or refused under the limit')
      .none(late, '500s after the frozen node continued')
      .holds('it left the lead to its successor', whole === successor)
      .none(
        (neighbour?.answers ?? []).filter(({ status }) => status !== 200).length + (neighbour?.broken ?? 0),
        `failures of ${neighbour?.answers.length ?? 0} answers of the other cell`,
      )
      // With another cell to serve, a service starts at once.
      .atLeast(started?.tries ?? 0, plain ? 1 : 2, 'a service that started meanwhile was tried')
      .atMost(started?.s ?? 0, BACK_S, 'times, and ready after', ' s')
      .none(ended, 'processes ended')
  );
}

/** Names the cluster as cell 2, beside cell 1. Returns the file's path. */
function cellsFile(one: TestStore, url: string): string {
  const file = join(folder, 'cells.yaml');
  const cells = [
    { id: 1, url: urlOf(one) },
    { id: 2, url },
  ];
  writeFileSync(file, JSON.stringify({ cells }), { mode: 0o600 }); // JSON is YAML
  return file;
}

/** The number of 500s to requests sent after an instant, and when the first 200 after the last of them arrived. */
function outageSince(instant: number): { refused: number; back: number } {
  const later = loads.flatMap(({ answers }) => answers).filter(({ started }) => started > instant);
  const failed = later.filter(({ status }) => status === 500);
  const last = failed.reduce((latest, { started }) => Math.max(latest, started), instant);
  const good = later.filter(({ started, status }) => status === 200 && started > last);
  return { refused: failed.length, back: Math.min(...good.map(({ started, ms }) => started + ms)) };
}

/** Waits until another node than `old` leads. */
async function newLeader(patroni: PatroniCluster, old: PatroniNode): Promise<PatroniNode> {
  for (const deadline = performance.now() + 60_000; performance.now() < deadline; await wait(100)) {
    const leader = await patroni.leader();
    if (leader && leader !== old) return leader;
  }
  throw new Error('Patroni promoted no standby within a minute.');
}

/** A superuser's connection to a node. */
async function connect({ port }: PatroniNode, password: string, database: string): Promise<pg.Client> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', password, database });
  await client.connect();
  return client;
}

/** The health checks that a monitor has stored. */
function checksOf(monitor: Process): number {
  return monitor.output().split('health check completed').length - 1;
}

/** Starts a service as its supervisor does: again 2 s after each failure, as `deploy/dbvitals.service` says. */
async function startSupervised(
  environment: Environment,
): Promise<{ service: Service; tries: number; s: number }> {
  const began = performance.now();
  for (let tries = 1; ; tries += 1) {
    try {
      const service = await startService(environment, ['--no-monitor']);
      processes.push(service);
      return { service, tries, s: (performance.now() - began) / 1_000 };
    } catch (error) {
      if (performance.now() > began + 60_000) throw error;
    }
    await wait(2_000);
  }
}
