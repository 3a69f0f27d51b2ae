import type { ChildProcess } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { PASSWORD, PostgresServer } from '../test/checks/postgres-server.ts';
import { startTestStore, type TestStore } from '../test/support/store.ts';
import { cpuSeconds, postmasterOf, serverSeconds } from './cost.ts';
import type { Figure } from './one-run.ts';
import { busyShare, cpuTimes, descendantsOf, memoryOf } from './processes.ts';
import { makeRoom } from './pulse/add-connections.ts';
import { startProgram, stopProgram } from './start-program.ts';

export const DATABASES = 50;
const DUE_IN_S = 5;
const LATE_LIMIT_S = 30;
const MEMORY_LIMIT_MB = 300;

/** The most that a run may take, the watched server aside. */
const CPU_LIMIT_MS = 60;

/** The number of connections, the seconds between their checks, and whether they have pulses too. */
interface Fleet {
  connections: number;
  seconds: number;
  pulses: boolean;
}

/** Measures how late a fleet's runs start, what they take of the processors, and how much memory a monitor and its children use. */
export async function measureFleet({ connections, seconds, pulses }: Fleet, figure: Figure): Promise<void> {
  const [store, server] = await Promise.all([startTestStore(), PostgresServer.start()]);
  let monitor: ChildProcess | undefined;
  try {
    const also = pulses ? 'with pulses' : 'without pulses';
    console.log(
      `${connections} connections, each due every ${seconds} s, on ${DATABASES} databases, ${also}`,
    );
    await makeDatabases(server, connections);
    await addConnections(store, server, connections);
    if (!pulses) await store.writer.query('update connection set pulse_seconds = 0');
    await noteClaims(store);
    await spreadDue(store, seconds);
    monitor = startProgram(store, 'monitor');
    // A connection's first run also stores what never changes again, and its second one the first rates.
    await wait((DUE_IN_S + 2 * seconds) * 1_000);
    const first = await lateness(store);
    const before = cpuTimes();
    const shares = cpuShares(monitor.pid ?? 0, store, server);
    const peak = { pss: 0, rss: 0, processes: 0 };
    const until = Date.now() + (seconds + 15) * 1_000;
    while (Date.now() < until && monitor.exitCode === null) {
      shares.look();
      const now = memoryOf(monitor.pid ?? 0);
      if (now.pss > peak.pss) Object.assign(peak, now);
      await wait(500);
    }
    const busy = busyShare(before);
    const late = await lateness(store);
    const runs = late.claims - first.claims;
    figure('runs after the first two of each', runs, '');
    const spent = shares.look();
    const perRun = (ms: number) => ms / runs;
    figure(
      'processor time of a run, the watched server aside',
      perRun(spent.main + spent.children + spent.store),
      'ms',
      pulses ? undefined : CPU_LIMIT_MS,
    );
    for (const [part, ms] of Object.entries(spent)) figure(`of it or beside it: ${part}`, perRun(ms), 'ms');
    figure('connections never run', connections - late.connections, '', 1);
    figure('largest lateness of a start', late.largest, 's', LATE_LIMIT_S);
    figure('99th percentile', late.p99, 's');
    figure('longest from due to stored', late.stored, 's');
    figure('runs that found a connection unreachable', late.unreachable, '', 1);
    figure(
      `memory of the monitor and its children, peak (${peak.processes} processes)`,
      peak.pss,
      'MB',
      MEMORY_LIMIT_MB,
    );
    figure('resident, with shared pages counted in each process', peak.rss, 'MB');
    figure('processors busy, with store and watched server', busy, '%');
  } finally {
    if (monitor) await stopProgram(monitor);
    await Promise.all([store.stop(), server.stop()]);
  }
}

/** Looks at the processor time since now, in milliseconds: the monitor's own, its children's, the store's and the watched server's. */
function cpuShares(monitor: number, store: TestStore, server: PostgresServer) {
  const [ofStore, ofServer] = [postmasterOf(String(store.address[0]?.host)), postmasterOf(server.host)];
  const begin = { store: serverSeconds(ofStore), server: serverSeconds(ofServer), main: cpuSeconds(monitor) };
  const before = new Map([...descendantsOf(monitor)].map((pid) => [pid, cpuSeconds(pid)]));
  const children = new Map<number, number>(); // what each had taken at the last look: one may end between two
  return {
    look() {
      for (const pid of descendantsOf(monitor)) {
        const spent = cpuSeconds(pid) - (before.get(pid) ?? 0);
        if (pid !== monitor) children.set(pid, Math.max(children.get(pid) ?? 0, spent));
      }
      return {
        main: (cpuSeconds(monitor) - begin.main) * 1_000,
        children: [...children.values()].reduce((sum, seconds) => sum + seconds, 0) * 1_000,
        store: (serverSeconds(ofStore) - begin.store) * 1_000,
        'watched server': (serverSeconds(ofServer) - begin.server) * 1_000,
      };
    },
  };
}

/** Creates a role for each database that can connect only to that database. */
export async function makeDatabases(server: PostgresServer, connections: number): Promise<void> {
  await makeRoom(server, connections);
  await server.run('create table thing (id serial primary key, name text)');
  await server.run('insert into thing (name) select md5(i::text) from generate_series(1, 1000) i');
  for (let n = 1; n <= DATABASES; n++) {
    await server.run(`create role r${n} login password '${PASSWORD}' in role pg_monitor`, 'postgres');
    await server.run(`create database d${n} template shop`, 'postgres');
    await server.run(`grant connect on database d${n} to r${n}`, 'postgres');
    await server.run(`revoke connect on database d${n} from public`, 'postgres');
  }
  await server.run('revoke connect on database shop, postgres from public', 'postgres');
}

async function addConnections(
  store: TestStore,
  { host, port }: PostgresServer,
  connections: number,
): Promise<void> {
  let accountId = 0;
  for (let n = 0; n < connections; n++) {
    if (n % DATABASES === 0) accountId = await store.account();
    const own = { database: `d${(n % DATABASES) + 1}`, username: `r${(n % DATABASES) + 1}` };
    const connectionId = await store.connection(accountId, { host, port, name: `fleet ${n}`, ...own });
    await store.set({ accountId, connectionId }, {}, { password: PASSWORD });
  }
}

/** Records the lateness of every claim in a table of the benchmark. A claim moves due_at forward. */
export async function noteClaims(store: TestStore): Promise<void> {
  const superuser = await store.superuser('store');
  await superuser.query(`
    create table bench_claim (connection_id bigint, due_at timestamptz, late float8);
    create function bench_note() returns trigger language plpgsql security definer set search_path = public as $$
    begin
      insert into bench_claim
      values (old.connection_id, old.due_at, extract(epoch from clock_timestamp() - old.due_at));
      return null;
    end $$;
    create trigger bench_note after update on connection_schedule
      for each row when (old.claimed_by is distinct from new.claimed_by and new.claimed_by is not null)
      execute function bench_note()`);
}

export async function spreadDue(store: TestStore, seconds: number): Promise<void> {
  await store.writer.query(
    `insert into connection_schedule (account_id, connection_id, every, due_at)
     select account_id, connection_id, $1 * interval '1 s',
            now() + $2 * interval '1 s'
                  + $1 * interval '1 s' * (row_number() over (order by connection_id) - 1) / count(*) over ()
       from connection
     on conflict do nothing`, // a service has one of its own
    [seconds, DUE_IN_S],
  );
}

export async function lateness(store: TestStore) {
  const superuser = await store.superuser('store');
  const { rows } = await superuser.query(`
    select count(*)::int as claims,
           count(distinct connection_id)::int as connections,
           max(late) as largest,
           percentile_cont(0.99) within group (order by late) as p99,
           (select max(extract(epoch from created_at - due_at))::float8
              from bench_claim b
              cross join lateral (select created_at
                                    from health_check h
                                   where h.connection_id = b.connection_id and h.created_at >= b.due_at
                                   order by created_at limit 1) h) as stored,
           (select count(*)::int from health_check where score = 0) as unreachable
      from bench_claim`);
  return rows[0];
}
