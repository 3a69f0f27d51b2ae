import { setTimeout as wait } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import type { Login, MysqlServer } from './mysql-server.ts';
import { paste } from './paste.ts';
import type { Provocation } from './provocations.ts';
import { dialect, FLUSH_STATUS, numbers, ON_MYSQL } from './tested-server.ts';

const AT_ONCE = { warning_seconds: 1, critical_seconds: 3600 };

// Not innodb_trx: its contents do not change while it is read every 0.1 s.
const WAITING_FOR_LOCK = `select count(*) = 1 from information_schema.processlist where info like 'delete%' and time >= 1`;

const WAITING_FOR_METADATA = `select count(*) = 1 from information_schema.processlist where state = 'Waiting for table metadata lock' and time >= 1`;

const INSTRUMENT = `name = 'wait/lock/metadata/sql/mdl'`;

/** Pastes the remediation into the client, and then the statements that it prints: the first column of each row. */
function pastePrinted(server: MysqlServer, remediation: string): void {
  for (const line of paste(server, remediation)
    .split('\n')
    .filter((each) => each !== ''))
    paste(server, line.split('\t')[0] ?? '');
}

/** A session after these statements; its table is `shop`.`load`. */
async function busy(
  server: MysqlServer,
  login: Login,
  statements: readonly string[],
): Promise<mysql.Connection> {
  const session = await server.open(login);
  for (const statement of statements) await session.query(statement);
  return session;
}

const makeTable = [
  'drop table if exists shop.`load`', // of a try that failed
  'create table shop.`load` (id int primary key, v longblob) engine=innodb charset=utf8mb4',
  'insert into shop.`load` values (1, null), (2, null)',
];
const dropTable = 'drop table shop.`load`';

/** Gives the server 6 MB for pages, and waits until it has given up the others: MySQL says the new number of pages at once. */
async function shrinkPool(server: MysqlServer): Promise<void> {
  await server.run('set global innodb_buffer_pool_size = 6291456');
  await server.until(
    dialect({
      mysql: `select variable_value = 0 from performance_schema.global_status where variable_name = 'Innodb_buffer_pool_resize_status_code'`,
      mariadb: `select variable_value * 16384 < 16777216 from information_schema.global_status where variable_name = 'Innodb_buffer_pool_pages_total'`,
    }),
  );
}

/** Rows of 8 MB each, more than the buffers of these tests hold. */
const insertBlobs = (server: MysqlServer, from: number) =>
  server.run(`insert into \`load\` select seq, repeat('v', 8000000) from ${numbers(from, from + 2)}`);

const gone = (login: string) =>
  `select count(*) = 0 from information_schema.processlist where user = '${login}' and id <> connection_id()`;

/** A session that holds a lock of `holding`, and another that waits for it; returns a fix that ends the first. */
function waiting(
  named: Omit<Provocation, 'prepare' | 'provoke' | 'severity' | 'thresholds'>,
  {
    holder,
    holding,
    waiter,
    asking,
    until,
    after,
  }: Record<'holding' | 'asking' | 'until', string> & {
    holder: Login;
    waiter: Login;
    /** Undoes the other effects of `prepare`. */
    after?: string;
  },
  before: readonly string[] = [],
): Provocation {
  return {
    ...named,
    severity: 'warning',
    thresholds: AT_ONCE,
    prepare: async (server) => {
      await server.run([...makeTable, ...before]);
    },
    async provoke(server) {
      await busy(server, holder, ['begin', holding]);
      const asks = await server.open(waiter);
      const answered = asks.query(asking).catch(() => {});
      await server.until(until);
      return async (remediation) => {
        pastePrinted(server, remediation);
        await answered;
        await asks.end();
        await server.run([dropTable, ...(after === undefined ? [] : [after])]);
      };
    },
  };
}

const altering = {
  holder: 'root',
  holding: 'select id from `load`',
  waiter: 'app',
  asking: 'alter table `load` add column w int',
  until: WAITING_FOR_METADATA,
} as const;

/** Provocations of connections, transactions and performance. */
export const load: Provocation[] = [
  {
    check_id: 'MY_CONN_SATURATION',
    severity: 'warning',
    object: null,
    async provoke(server) {
      // With the watcher's own session 16 of 20: 80 %. Sessions that just ended may still count: 19 would be critical.
      const sessions = await Promise.all(Array.from({ length: 15 }, () => server.open('app')));
      return async (remediation) => {
        await server.run(remediation);
        await Promise.all(sessions.map((session) => session.end()));
        await server.until(gone('app'));
        await server.run(['set global max_connections = 20', FLUSH_STATUS]); // forgets the peak
      };
    },
  },
  {
    check_id: 'MY_THREADS_RUNNING',
    severity: 'warning',
    object: null,
    async provoke(server) {
      // With the watcher's own session 13 of 20. Sessions that just ended count for the peak: 16 would be saturation.
      const sessions = await Promise.all(Array.from({ length: 12 }, () => server.open('app')));
      const asleep = sessions.map((session) => session.query('select sleep(60)').catch(() => {}));
      await server.until(
        `select count(*) = 12 from information_schema.processlist where state = 'User sleep'`,
      );
      return async (remediation) => {
        pastePrinted(server, remediation);
        await Promise.all(asleep);
        await Promise.all(sessions.map((session) => session.end()));
        await server.until(gone('app'));
        await server.run(FLUSH_STATUS); // forgets the peak of connections
      };
    },
  },
  {
    check_id: 'MY_ABORTED_CONNECTS',
    severity: 'warning',
    object: null,
    async provoke(server) {
      const { socket: socketPath } = server;
      const refused = { socketPath, user: 'app', password: 'a wrong one' };
      for (let tries = 0; tries < 12; tries++) await mysql.createConnection(refused).catch(() => {});
      return async (remediation) => void paste(server, remediation);
    },
  },
  {
    check_id: 'MY_LONG_TRX',
    severity: 'warning',
    object: 'shop/app',
    thresholds: AT_ONCE,
    async provoke(server) {
      await server.run(makeTable);
      await busy(server, 'app', ['begin', 'select id from `load`']);
      await wait(1_100);
      return async (remediation) => {
        pastePrinted(server, remediation);
        await server.until(gone('app'));
        await server.run(dropTable);
      };
    },
  },
  {
    check_id: 'MY_LONG_TRX',
    severity: 'warning',
    object: 'transaction without a session',
    thresholds: AT_ONCE,
    async provoke(server) {
      await server.run(makeTable);
      const prepares = ["xa start 'seven'", 'insert into `load` values (3, null)', "xa end 'seven'"];
      await (await busy(server, 'app', [...prepares, "xa prepare 'seven'"])).end();
      await wait(1_100);
      return async (remediation) => {
        for (const { data } of await server.run(remediation)) await server.run(`xa rollback '${data}'`);
        await server.run(dropTable);
        await wait(200); // InnoDB's list of transactions is up to 0.1 s old
      };
    },
  },
  waiting(
    { check_id: 'MY_LOCK_WAITS', object: 'shop/app' },
    {
      holder: 'app',
      holding: "update `load` set v = 'held' where id = 2",
      waiter: 'root',
      asking: 'delete from `load` where id = 2',
      until: WAITING_FOR_LOCK,
    },
  ),
  waiting({ check_id: 'MY_MDL_WAIT', object: 'shop/app' }, altering),
  waiting(
    { check_id: 'MY_MDL_WAIT', object: 'shop/app' },
    {
      ...altering,
      after: `update performance_schema.setup_instruments set enabled = 'NO' where ${INSTRUMENT}`,
    },
    [`update performance_schema.setup_instruments set enabled = 'YES' where ${INSTRUMENT}`],
  ),
  {
    check_id: 'MY_HISTORY_LIST',
    severity: 'warning',
    object: null,
    thresholds: { warning: 100 },
    async provoke(server) {
      await server.run(makeTable);
      await busy(server, 'app', ['start transaction with consistent snapshot']);
      await server.run(Array.from({ length: 150 }, (_, n) => `update \`load\` set v = '${n}' where id = 1`));
      return async (remediation) => {
        pastePrinted(server, remediation);
        await server.until(
          dialect({
            mariadb: `select variable_value < 50 from information_schema.global_status where variable_name = 'innodb_history_list_length'`,
            mysql: `select count < 50 from information_schema.innodb_metrics where name = 'trx_rseg_history_len'`,
          }),
        );
        await server.run(dropTable);
      };
    },
  },
  {
    check_id: 'MY_BP_MISS',
    severity: 'warning',
    object: null,
    thresholds: { minimum_reads: 2_000 },
    async prepare(server) {
      await server.run([
        ...makeTable,
        `insert into \`load\` select seq, repeat('v', 400) from ${numbers(3, 60_000)}`,
      ]);
      await shrinkPool(server); // 20 MB of rows do not fit
    },
    async provoke(server) {
      await server.run(`
        select sum(length(v))
          from ${numbers(1, 5_000)}
          straight_join \`load\` on id = 1 + (seq * 7919) % 60000`);
      return async (remediation) => {
        await server.run([remediation, dropTable, 'set global innodb_buffer_pool_size = 33554432']);
      };
    },
  },
  {
    check_id: 'MY_BP_WAIT_FREE',
    severity: 'warning',
    object: null,
    // Above what the server itself may wait while it mends.
    thresholds: { warning_waits: 3 },
    async prepare(server) {
      await server.run(makeTable);
      await shrinkPool(server);
    },
    async provoke(server) {
      const waits = async () => {
        const [row] = await server.run(`show global status like 'Innodb_buffer_pool_wait_free'`);
        return Number(row?.['Value']);
      };
      const before = await waits();
      // Whether the pages are written fast enough depends on the disk.
      for (let id = 10; id < 1_000 && (await waits()) < before + 3; id += 30)
        await Promise.all([0, 10, 20].map((more) => insertBlobs(server, id + more)));
      return async (remediation) => {
        await server.run([remediation, 'set global innodb_io_capacity = 200']);
        await server.run(['set global innodb_buffer_pool_size = 33554432', dropTable]);
      };
    },
  },
  {
    check_id: 'MY_LOG_WAITS',
    severity: 'warning',
    object: null,
    // 6 waits: the load causes about 30, and the server itself may wait once while it mends.
    thresholds: { warning_per_second: 0.1 },
    async prepare(server) {
      // Not in memory (/dev/shm): there MariaDB maps the log, and nothing waits.
      await server.restart({ 'innodb-log-buffer-size': '2M' });
      await server.run(makeTable);
    },
    async provoke(server) {
      await Promise.all([10, 20, 30].map((from) => insertBlobs(server, from)));
      // The restart of the remediation would reset the counters; without the load no wait is left either.
      return async () => {
        await server.run(dropTable);
      };
    },
  },
  {
    check_id: 'MY_TMP_DISK',
    severity: 'warning',
    object: null,
    thresholds: { minimum_per_minute: 20 },
    async provoke(server) {
      await server.run([
        ...dialect({ mariadb: [], mysql: ['set big_tables = on'] }),
        ...Array.from({ length: 250 }, () => `select distinct repeat(seq, 30000) from ${numbers(1, 2)}`),
      ]);
      return async (remediation) => {
        await server.run(remediation);
        await server.run('set global tmp_table_size = 16777216, global max_heap_table_size = 16777216');
      };
    },
  },
  {
    check_id: 'MY_JOINS_NO_INDEX',
    severity: 'info',
    object: null,
    async provoke(server) {
      await server.run(makeTable);
      await server.run(
        Array.from({ length: 260 }, () => 'select a.id from `load` a join `load` b on b.v = a.v'),
      );
      return async (remediation) => {
        await server.run([remediation, dropTable]);
      };
    },
  },
  {
    check_id: 'MY_SLOW_QUERIES',
    severity: 'warning',
    object: null,
    async provoke(server) {
      await server.run(['set long_query_time = 0', ...Array.from({ length: 40 }, () => 'select 1')]);
      return async (remediation) => {
        await server.run([remediation, 'set global slow_query_log = off']);
      };
    },
  },
  {
    check_id: 'MY_TABLE_CACHE',
    severity: 'warning',
    object: null,
    thresholds: { minimum_per_minute: 50 },
    async prepare(server) {
      await server.run('set global table_open_cache = 10');
      await server.run(
        forty((n) => `create table shop.t${n} (id int primary key) engine=innodb charset=utf8mb4`),
      );
    },
    async provoke(server) {
      for (let round = 0; round < 20; round++) await server.run(forty((n) => `select id from t${n}`));
      return async (remediation) => {
        await server.run([
          remediation,
          'set global table_open_cache = 2000',
          ...forty((n) => `drop table t${n}`),
        ]);
      };
    },
  },
  {
    check_id: 'MY_OPEN_FILES',
    severity: 'warning',
    object: null,
    thresholds: { warning: 0.003 }, // of 20,000
    async provoke(server) {
      const session = await server.open('root');
      for (const statement of await openingFiles(server)) await session.query(statement);
      return async (remediation) => {
        await session.end();
        await server.run([remediation, 'set global table_open_cache = 2000']);
      };
    },
  },
];

/** MySQL's own tables are all in InnoDB; its temporary tables are the session's. */
async function openingFiles(server: MysqlServer): Promise<string[]> {
  if (ON_MYSQL) return forty((n) => `create temporary table opened_${n} (id int) engine = MyISAM`);
  const tables = await server.run(
    `select table_name as name from information_schema.tables where table_schema = 'mysql' and engine = 'Aria'`,
  );
  return tables.map(({ name }) => `select 1 from mysql.\`${name}\` limit 1`);
}

function forty(statement: (n: number) => string): string[] {
  return Array.from({ length: 40 }, (_, n) => statement(n));
}
