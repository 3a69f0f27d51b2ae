import { cpus } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { measure } from '../src/monitor/measure.ts';
import type { Target } from '../src/monitor/session/session.ts';
import { MysqlServer } from '../test/mysql/mysql-server.ts';
import { serverSeconds } from './cost.ts';
import { type Figure, shown, under } from './figure.ts';
import { fillMysqlTables } from './fill-mysql-tables.ts';
import { median } from './median.ts';
import { watcher } from './watched-target.ts';

// Measures the cost of a run for a MariaDB of 2,000 tables and 6,000 indexes, and whether it delays ALTER TABLE:
// `npm run bench:mysql`. Requires Linux and an installed MariaDB; takes half a minute.

const TABLES = 2_000;
const RUNS = 5;

const server = await MysqlServer.start({
  'performance-schema-instrument': 'wait/lock/metadata/sql/mdl=ON',
  'innodb-flush-log-at-trx-commit': '0', // so that the tables are made in seconds
});
try {
  const target: Target = { ...watcher, engine: 'mariadb', host: server.socket, port: 0, database: '' };
  const run = async () => {
    const signal = AbortSignal.timeout(60_000);
    const instructions = { allowPrivateTargets: true, thresholds: {}, signal };
    const [started, busy] = [performance.now(), serverSeconds(server.pid)];
    const { outcomes, cost } = await measure(target, instructions);
    const seconds = (performance.now() - started) / 1_000;
    return { outcomes, cost, seconds, cpu: serverSeconds(server.pid) - busy };
  };
  await run();
  const small = await repeated(run);
  await fillMysqlTables(server, TABLES, 20);
  await server.restart(); // no table is open yet
  const cold = await run();
  const warm = await repeated(run);
  const altering = alter(server);
  const beside = await repeated(run);
  const { alters, longest } = await altering.stop();
  const seen = await waitOnPurpose(server);

  const statuses = Map.groupBy(
    cold.outcomes.flatMap(({ check, findings }) => findings.map(({ status }) => ({ id: check.id, status }))),
    ({ status }) => status,
  );
  console.log(
    `${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.version}, all on this machine`,
  );
  console.log(`${TABLES} tables, ${3 * TABLES} indexes, ${cold.outcomes.length} checks`);
  for (const [status, found] of statuses) {
    const ids = [...new Set(found.map(({ id }) => id))];
    console.log(`  ${status}: ${ids.length}${status === 'ok' ? '' : ` (${ids.join(' ')})`}`);
  }
  console.log(`  statements of a run: ${cold.cost.statements}, bytes read: ${cold.cost.bytes}`);
  console.log(`  against an almost empty server: ${shown(warm.seconds / small.seconds)} times as long`);
  console.log(
    `  CPU of the server: ${shown(cold.cpu)} s when no table is open, then ${shown(warm.cpu)} s a run`,
  );
  const figures: Figure[] = [
    under('a run when no table is open', 3, cold.seconds, 's'),
    under(`a run, median of ${RUNS}`, 3, warm.seconds, 's'),
    under(`a run beside ALTER TABLE, median of ${RUNS}`, 3, beside.seconds, 's'),
    under(`longest wait for a metadata lock in ${alters} ALTER TABLE`, 100, longest, 'ms'),
  ];
  for (const { what, seen, reach, reached } of figures) {
    console.log(`  ${what}: ${seen} (${reached ? '' : 'MISSED: '}${reach})`);
    if (!reached) process.exitCode = 1;
  }
  const failed = statuses.get('error') ?? [];
  if (failed.length > 0 || alters < 100 || !(seen >= 150)) {
    console.log(
      `  MISSED: ${failed.length} checks failed, ${alters} ALTER TABLE made, a wait of 200 ms seen as ${seen} ms`,
    );
    process.exitCode = 1;
  }
} finally {
  await server.stop();
}

async function repeated(run: () => Promise<{ seconds: number; cpu: number }>) {
  const runs = [];
  for (let times = 0; times < RUNS; times++) runs.push(await run());
  return { seconds: median(runs.map(({ seconds }) => seconds)), cpu: median(runs.map(({ cpu }) => cpu)) };
}

/** Alters the tables in turn until stopped. Returns their number and the longest wait for a lock in ms. */
function alter(server: MysqlServer) {
  let stopped = false;
  const made = (async () => {
    const session = await server.open('app');
    let alters = 0;
    for (; !stopped; alters++) {
      const table = `t${((alters * 7919) % TABLES) + 1}`;
      await session.query(`alter table ${table} comment = 'change ${alters}'`);
    }
    await session.end();
    return alters;
  })();
  return {
    async stop() {
      stopped = true;
      const alters = await made;
      return { alters, longest: await longestWait(server) };
    },
  };
}

/** Causes a wait of 0.2 s to show that waits are measured. Returns the measured wait in ms. */
async function waitOnPurpose(server: MysqlServer): Promise<number> {
  const [reader, altering] = await Promise.all([server.open('app'), server.open('app')]);
  await reader.query('start transaction');
  await reader.query('select id from t1 limit 1');
  const altered = altering.query("alter table t1 comment = 'waits'");
  await wait(200);
  await reader.query('commit');
  await altered;
  await Promise.all([reader.end(), altering.end()]);
  return longestWait(server);
}

/** How long an ALTER TABLE waited for a metadata lock, in ms. */
async function longestWait(server: MysqlServer): Promise<number> {
  const [row] = await server.run(`
    select max_timer_wait / 1e9 as ms
      from performance_schema.events_waits_summary_by_account_by_event_name
     where user = 'app' and event_name = 'wait/lock/metadata/sql/mdl'`);
  return Number(row?.['ms']);
}
