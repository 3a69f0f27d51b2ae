import { HeldSession } from '../../src/monitor/pulse/held-session.ts';
import type { PulseReading } from '../../src/monitor/pulse/reading/pulse-reading.ts';
import type { Target } from '../../src/monitor/session/session.ts';
import { PostgresServer } from '../../test/checks/postgres-server.ts';
import { MysqlServer } from '../../test/mysql/mysql-server.ts';
import { ENGINE } from '../../test/mysql/tested-server.ts';
import { postmasterOf, serverSeconds } from '../cost.ts';
import type { Figure } from '../one-run.ts';
import { watcher } from '../watched-target.ts';

const IDLE = 200;
const RUNNING = 200;
const OPEN = 100;
const WAITING = 150;
const PULSES = 200;
const LIMIT_MS = 2;

/** A server with {@link IDLE} sessions that do nothing at first, {@link RUNNING} that run a statement and {@link OPEN} that left a transaction open. */
interface CrowdedServer {
  target: Pick<Target, 'engine' | 'host' | 'port' | 'database'>;
  pid: number;
  /** Makes so many of the idle sessions wait for a row that one of the others has. */
  block(): Promise<void>;
  stop(): Promise<void>;
}

/** Measures what a pulse takes of a server with 500 sessions: its processor time, and the time at the client. */
export async function measureCost(figure: Figure, isMysql: boolean): Promise<void> {
  const server = await (isMysql ? crowdMysql() : crowdPostgres());
  const held = new HeldSession({ ...watcher, ...server.target }, true);
  try {
    console.log(
      `${IDLE + RUNNING + OPEN} sessions on ${isMysql ? ENGINE : 'PostgreSQL'}, ${RUNNING + OPEN} of them busy`,
    );
    await measure(held, server.pid, figure, LIMIT_MS);
    await server.block();
    await new Promise((settled) => setTimeout(settled, 1_500)); // a pulse reads waits of a second and more
    console.log(`  ${WAITING} of the others wait for one row`);
    await measure(held, server.pid, figure);
  } finally {
    await held.end();
    await server.stop();
  }
}

async function measure(held: HeldSession, pid: number, figure: Figure, limit?: number): Promise<void> {
  for (let n = 0; n < 20; n++) await pulse(held);
  const before = serverSeconds(pid);
  const began = performance.now();
  for (let n = 0; n < PULSES; n++) await pulse(held);
  const wall = performance.now() - began;
  figure('processor time of the server', ((serverSeconds(pid) - before) * 1_000) / PULSES, 'ms', limit);
  figure('time at the client', wall / PULSES, 'ms');
  const { active, idleInTransaction, waits } = await pulse(held);
  console.log(`  (${active} active, ${idleInTransaction} idle in transactions, ${waits.length} waits)`);
}

async function pulse(held: HeldSession): Promise<PulseReading> {
  const answer = await held.pulse();
  if (!('reading' in answer)) throw new Error(answer.failure.reason);
  return answer.reading;
}

async function crowdPostgres(): Promise<CrowdedServer> {
  const server = await PostgresServer.start();
  await server.run('alter system set max_connections = 800');
  await server.restart();
  await server.run(
    'create table held (id int primary key, n int); INSERT INTO held VALUES (1, 0); GRANT ALL ON held TO app',
  );
  const open = (count: number) => openMany(count, (n) => server.open(n % 2 === 0 ? 'app' : 'postgres'));
  const [, running, transactions, waiting] = [
    await open(IDLE - WAITING - 1),
    await open(RUNNING),
    await open(OPEN),
    await open(WAITING + 1),
  ];
  for (const [n, client] of running.entries())
    client.query(`select pg_sleep(3600) as c${n % 40}`).catch(() => {});
  for (const client of transactions) await client.query('begin; select 1');
  return {
    target: { engine: 'postgres', host: server.host, port: server.port, database: 'shop' },
    pid: postmasterOf(server.host),
    async block() {
      const [root, ...others] = waiting;
      await root?.query('begin; update held set n = n + 1');
      for (const client of others) client.query('update held set n = n + 1').catch(() => {});
    },
    stop: () => server.stop(),
  };
}

async function crowdMysql(): Promise<CrowdedServer> {
  const server = await MysqlServer.start({ 'max-connections': '800', 'innodb-lock-wait-timeout': '600' });
  await server.run(['create table held (id int primary key, n int)', 'insert into held values (1, 0)']);
  const open = (count: number) => openMany(count, (n) => server.open(n % 2 === 0 ? 'app' : 'root'));
  const [, running, transactions, waiting] = [
    await open(IDLE - WAITING - 1),
    await open(RUNNING),
    await open(OPEN),
    await open(WAITING + 1),
  ];
  for (const [n, client] of running.entries())
    client.query(`select sleep(3600) as c${n % 40}`).catch(() => {});
  for (const client of transactions) {
    await client.query('start transaction');
    await client.query('select * from held');
  }
  return {
    target: { engine: ENGINE, host: server.socket, port: 3306, database: '' },
    pid: server.pid,
    async block() {
      const [root, ...others] = waiting;
      await root?.query('start transaction');
      await root?.query('update held set n = n + 1');
      for (const client of others) client.query('update held set n = n + 1').catch(() => {});
    },
    stop: () => server.stop(),
  };
}

async function openMany<T>(count: number, open: (n: number) => Promise<T>): Promise<T[]> {
  const opened: T[] = [];
  for (let n = 0; n < count; n++) opened.push(await open(n));
  return opened;
}
