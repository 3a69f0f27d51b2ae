import { setTimeout as wait } from 'node:timers/promises';
import type { Row } from '../src/checks/fault.ts';
import { mysqlStatistics, postgresStatistics, type Seen } from '../src/checks/queries/statistics-sql.ts';
import { QueryReader } from '../src/monitor/queries/query-reader.ts';
import { seenIn, unpackState } from '../src/runs/queries/query-state.ts';
import type { Engine } from '../src/vocabulary/engines.ts';
import { PostgresServer } from '../test/checks/postgres-server.ts';
import { MysqlServer } from '../test/mysql/mysql-server.ts';
import { ENGINE } from '../test/mysql/tested-server.ts';
import { cpuSeconds } from './cost.ts';
import { type Figure, under } from './figure.ts';

// Measures what the statement of the queries' statistics costs a server with 4,900 entries, of which 300 moved since the last
// run: `npm run bench:queries`. Counts the server's CPU time, so other work on the machine matters little. Requires Linux and
// an installed MariaDB; TEST_MYSQL_SERVER=mysql-9.7 measures MySQL instead. Takes a minute.

const ENTRIES = 4_900;
const MOVED = 300;
const TIMES = 60;
const LIMIT_MS = 30;

type Send = (statement: string) => Promise<Row[]>;

/** A server whose statistics are read. */
interface Bench {
  name: string;
  engine: Engine;
  /** The process whose CPU time counts. */
  pid: number;
  /** Runs a statement as the application. */
  send: Send;
  /** Runs a statement as the monitor. */
  read: Send;
  statistics(seen: Seen | null): string;
  count: string;
  /** The entry of the number `n`, which takes more than 1 ms. */
  query(n: number): string;
}

/** So many columns that the queries differ for PostgreSQL, which ignores constants and names of columns. */
const columns = (n: number) =>
  [...new Array((n % 70) + 1).fill('1'), ...new Array(Math.floor(n / 70) + 1).fill('1 + 1')].join(', ');

async function measure({ name, engine, pid, send, read, statistics, count, query }: Bench): Promise<void> {
  for (let n = 0; n < ENTRIES; n++) await send(query(n));
  await wait(2_000); // MySQL tells by the second what moved
  const reader = new QueryReader(engine, { state: null, usual: null, recent: null, texts: null });
  await reader.facts({ tls: null, read, close: async () => {} }, 'shop');
  const state = unpackState(Buffer.from(reader.report?.state ?? '', 'base64'));
  if (state === null) throw new Error('The first run left no state.');
  for (let n = 0; n < MOVED; n++) await send(query(n));

  const cost = async (what: string, statement: string): Promise<Figure> => {
    let { length } = await read(statement);
    const before = cpuSeconds(pid);
    for (let times = 0; times < TIMES; times++) ({ length } = await read(statement));
    const milliseconds = ((cpuSeconds(pid) - before) * 1_000) / TIMES;
    return under(`${name}: ${what}`, LIMIT_MS, milliseconds, 'ms', `, ${length} rows`);
  };
  const figures = [
    await cost('count(*)', count),
    await cost('what moved and one part, in each run', statistics(seenIn(state))),
    await cost('all entries, in a first run', statistics(null)),
  ];
  for (const { what, seen, reach, reached } of figures)
    console.log(`  ${what}: ${seen} (${reached ? '' : 'MISSED: '}${reach})`);
}

async function measurePostgres(): Promise<void> {
  const server = await PostgresServer.start();
  try {
    const [app, watcher] = await Promise.all([server.open(), server.open('watcher')]);
    const schema = '"Extra stats"';
    const read: Send = async (statement) => (await watcher.query(statement)).rows;
    const [own] = await read('select pg_backend_pid() as pid');
    await measure({
      name: 'PostgreSQL',
      engine: 'postgres',
      pid: Number(own?.['pid']),
      read,
      send: async (statement) => (await app.query(statement)).rows,
      statistics: (seen) => postgresStatistics(schema, seen),
      count: `select count(*) from ${schema}.pg_stat_statements(false)`,
      query: (n) => `select count(*), ${columns(n)} from generate_series(1, 20000)`,
    });
    await Promise.all([app.end(), watcher.end()]);
  } finally {
    await server.stop();
  }
}

async function measureMysql(): Promise<void> {
  const server = await MysqlServer.start();
  try {
    const [app, watcher] = await Promise.all([server.open('app'), server.open('watcher')]);
    const sender = (session: typeof app): Send => {
      return async (statement) => (await session.query(statement))[0] as Row[];
    };
    await measure({
      name: ENGINE,
      engine: ENGINE,
      pid: server.pid,
      send: sender(app),
      read: sender(watcher),
      statistics: mysqlStatistics,
      count: 'select count(*) from performance_schema.events_statements_summary_by_digest',
      query: (n) => `select sleep(0.001) as q${n}`,
    });
    await Promise.all([app.end(), watcher.end()]);
  } finally {
    await server.stop();
  }
}

await measurePostgres();
await measureMysql();
