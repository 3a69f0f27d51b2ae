import { setTimeout as wait } from 'node:timers/promises';
import type { ConnectionKey } from '../src/monitor/monitor-deps.ts';
import { runHealthCheck } from '../src/monitor/run.ts';
import type { StoredCheck } from '../src/monitor/store-run.ts';
import { PASSWORD, PostgresServer } from '../test/checks/postgres-server.ts';
import { startTestStore, type TestStore } from '../test/support/store.ts';
import { fillTables } from './fill-tables.ts';

const TABLES = 2_000;
const RUNS = 5;

/** Reports a measured figure. `limit` has the same unit. */
export type Figure = (what: string, value: number, unit: string, limit?: number) => void;

/** Measures single runs against an idle small database, a large one, and the large one with locked tables. */
export async function measureOneRun(figure: Figure): Promise<void> {
  const [store, server] = await Promise.all([startTestStore(), PostgresServer.start()]);
  try {
    await server.run('alter system set pg_stat_statements.track_planning = on');
    await server.run('grant pg_read_all_data to watcher'); // so that the estimates of bloat are measured too
    await server.restart();
    const key = await watch(store, server);

    console.log(`an idle small database, ${RUNS} runs`);
    await measureRuns(store, server, key, figure, { wall: 300 });

    await fillTables(server, TABLES, 50);
    console.log(`${TABLES} tables, ${3 * TABLES} indexes, ${RUNS} runs`);
    await measureRuns(store, server, key, figure, { wall: 2_000, server: 1_500 });

    const locker = await server.open();
    await locker.query('begin; lock table t1, t2, t3, t4, t5 in access exclusive mode');
    console.log('the same with five tables locked ACCESS EXCLUSIVE by another session');
    await measureRuns(store, server, key, figure, { wall: 2_000, server: 1_500 });
    await locker.end();
  } finally {
    await Promise.all([store.stop(), server.stop()]);
  }
}

async function watch(store: TestStore, { host, port, database }: PostgresServer): Promise<ConnectionKey> {
  const accountId = await store.account();
  const key = { accountId, connectionId: await store.connection(accountId, { host, port, database }) };
  await store.set(key, {}, { password: PASSWORD });
  return key;
}

/** Limits in milliseconds. */
interface RunLimits {
  wall: number;
  server?: number;
}

async function measureRuns(
  store: TestStore,
  server: PostgresServer,
  key: ConnectionKey,
  figure: Figure,
  limits: RunLimits,
): Promise<void> {
  await runHealthCheck(store.deps, key); // fills the watched server's caches
  await server.run('select "Extra stats".pg_stat_statements_reset()');
  const watching = watchLocks(server);
  const walls: number[] = [];
  let stored: StoredCheck | null = null;
  for (let run = 0; run < RUNS; run++) {
    const started = performance.now();
    stored = await runHealthCheck(store.deps, key);
    walls.push(performance.now() - started);
  }
  const locks = await watching.stop();
  walls.sort((a, b) => a - b);
  figure('wall time of a run, median', walls[Math.floor(RUNS / 2)] ?? 0, 'ms', limits.wall);
  figure('longest', walls.at(-1) ?? 0, 'ms');
  const [spent = {}] = await server.run(`
    select sum(total_exec_time + total_plan_time) / ${RUNS} as ms, sum(calls) / ${RUNS} as statements
      from "Extra stats".pg_stat_statements where userid = 'watcher'::regrole`);
  figure('server time of a run, planning and execution', Number(spent['ms']), 'ms', limits.server);
  figure('statements of a run', Number(spent['statements']), '');
  figure(
    `locks above ACCESS SHARE in ${locks.samples} samples`,
    locks.strong.size,
    [...locks.strong].join(', '),
    1,
  );
  figure('longest wait for a lock seen', locks.waited, 'ms', 120); // 100, and what a sample takes
  console.log(`  checks by status: ${JSON.stringify(byStatus(stored))}`);
}

function byStatus(stored: StoredCheck | null): Record<string, string> {
  const counts: Record<string, string> = {};
  for (const [status, checks] of Map.groupBy(stored?.checks ?? [], ({ status }) => status)) {
    const ids = [...new Set(checks.map(({ check_id }) => check_id))];
    counts[status] = `${ids.length}${status === 'ok' ? '' : ` (${ids.join(' ')})`}`;
  }
  return counts;
}

// Ignores a transaction's lock on its own virtual id, and the short lock on the database of every new connection.
const locksOfWatcher = `
  select array_agg(distinct concat_ws(' ', mode, locktype, c.relkind))
           filter (where locktype <> 'virtualxid' and mode <> 'AccessShareLock'
                             and l.classid is distinct from 'pg_database'::regclass) as strong,
         coalesce(max(extract(epoch from clock_timestamp() - waitstart)) * 1000, 0)::float8 as waited
    from pg_locks l
    join pg_stat_activity a using (pid)
    left join pg_class c on c.oid = l.relation
   where a.usename = 'watcher'`;

/** Watches the locks of the monitor's login until `stop`: those above ACCESS SHARE, and the longest wait in milliseconds. */
export function watchLocks(server: PostgresServer) {
  const found = { samples: 0, strong: new Set<string>(), waited: 0 };
  let stopped = false;
  const sampling = (async () => {
    const client = await server.open();
    while (!stopped) {
      const { rows } = await client.query<{ strong: string[] | null; waited: number }>(locksOfWatcher);
      found.samples += 1;
      for (const lock of rows[0]?.strong ?? []) found.strong.add(lock);
      found.waited = Math.max(found.waited, rows[0]?.waited ?? 0);
      await wait(2);
    }
    await client.end();
  })();
  return {
    async stop() {
      stopped = true;
      await sampling;
      return found;
    },
  };
}
