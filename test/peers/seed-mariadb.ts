import { setTimeout as wait } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import type { Thresholds } from '../../src/checks/check.ts';
import type { MysqlServer, Settings } from '../mysql/mysql-server.ts';

/** Faulty settings, which the server has from its start. */
export const BROKEN: Settings = {
  'binlog-expire-logs-seconds': '0',
  'innodb-buffer-pool-size': '8M',
  'innodb-doublewrite': 'OFF',
  'innodb-flush-log-at-trx-commit': '2',
  'innodb-log-file-size': '4M',
  'local-infile': 'ON',
  'long-query-time': '0',
  'max-connections': '12',
  'slave-skip-errors': '1062',
  'sql-mode': '',
  'sync-binlog': '0',
  'tmp-memory-table-size': '1024',
};

/** Thresholds at which each fault counts at once, so that nothing waits for an hour. */
export const AT_ONCE: Readonly<Record<string, Thresholds>> = {
  MY_INDEX_GT_DATA: { minimum_bytes: 1 },
  MY_LOCK_WAITS: { warning_seconds: 1, critical_seconds: 3600 },
  MY_LONG_TRX: { warning_seconds: 1, critical_seconds: 3600 },
  MY_MDL_WAIT: { warning_seconds: 1, critical_seconds: 3600 },
  MY_NO_PRIMARY_KEY: { minimum_bytes: 0 },
  MY_REDUNDANT_INDEX: { minimum_bytes: 0 },
  MY_TMP_DISK: { minimum_per_minute: 1 },
  MY_UNUSED_INDEX: { minimum_bytes: 1, statistics_days: 0 },
};

/** The checks whose faults the settings above and the statements and sessions below make. */
export const MADE = [
  'MY_ABORTED_CONNECTS',
  'MY_AUTOINC_EXHAUSTION',
  'MY_BINLOG_NO_EXPIRY',
  'MY_BP_MISS',
  'MY_CHARSET_LEGACY',
  'MY_CONN_SATURATION',
  'MY_DOUBLEWRITE_OFF',
  'MY_EMPTY_PASSWORD',
  'MY_FLUSH_NOT_1',
  'MY_INDEX_GT_DATA',
  'MY_JOINS_NO_INDEX',
  'MY_LOCAL_INFILE',
  'MY_LOCK_WAITS',
  'MY_LONG_TRX',
  'MY_MDL_WAIT',
  'MY_NON_INNODB',
  'MY_NO_PRIMARY_KEY',
  'MY_REDO_TOO_SMALL',
  'MY_REDUNDANT_INDEX',
  'MY_ROOT_REMOTE',
  'MY_SKIP_ERRORS',
  'MY_SLOW_QUERIES',
  'MY_SQL_MODE_LAX',
  'MY_SYNC_BINLOG',
  'MY_TMP_DISK',
  'MY_UNUSED_INDEX',
];

/** The login of mysqltuner, which only this server has. */
export const TUNER = { user: 'tuner', password: 'of the peers' };

const STATEMENTS = [
  `create user ${TUNER.user}@'127.0.0.1' identified by '${TUNER.password}'`,
  `grant all on *.* to ${TUNER.user}@'127.0.0.1'`,
  // These hosts are reserved for documentation, so the accounts don't match the tests' own logins.
  "create user ''@'192.0.2.1'",
  "create user guest@'192.0.2.1'",
  "create user same@'192.0.2.1' identified by 'same'",
  "create user root@'%' identified by 'far away'",
  "grant all on *.* to root@'%'",
  'create table orders (id int primary key, customer int, day date, note varchar(200), key customer (customer), key customer_day (customer, day), key customer_again (customer), key customer_id (customer, id))',
  "insert into orders select seq, seq % 100, '2026-01-01' + interval seq % 300 day, repeat('x', 200) from seq_1_to_60000",
  'create table log (at datetime, line varchar(100))',
  "insert into log select now(), 'x' from seq_1_to_50",
  'create table archive (id int primary key, line text) engine=myisam',
  "insert into archive select seq, 'x' from seq_1_to_2000",
  'create table legacy (id int primary key, name varchar(50)) charset=latin1',
  'create table small (id tinyint auto_increment primary key)',
  'insert into small values (124)',
  'create table wide (id int primary key, a int, b int, c int, d int, key a (a, b, c, d), key b (b, c, d, a), key c (c, d, a, b), key d (d, a, b, c))',
  'insert into wide select seq, seq, seq, seq, seq from seq_1_to_20000',
  'analyze table orders, log, archive, legacy, small, wide',
];

/** Makes the faults of tables and accounts. */
export async function seed(server: MysqlServer): Promise<void> {
  await server.run(STATEMENTS);
}

/** Makes the faults that are counted between two runs. Takes some seconds. */
export async function load(server: MysqlServer, port: number): Promise<void> {
  const session = await server.open('root');
  for (let n = 0; n < 300; n++) {
    await session.query('select count(*) from log a join log b on a.line = b.line where a.at < b.at limit 1');
    if (n % 3 === 0) await session.query('select distinct note, day from orders where id < 99 order by day');
    if (n % 100 === 0)
      await session.query('update orders set note = reverse(note), day = day + interval 1 day');
  }
  for (let n = 0; n < 80; n++) {
    const wrong = { host: '127.0.0.1', port, user: TUNER.user, password: 'wrong' };
    await mysql.createConnection(wrong).catch(() => {});
  }
  await session.end();
}

/** Makes the faults of sessions, which stay open until the server stops. */
export async function hold(server: MysqlServer): Promise<void> {
  const holder = await server.open('root');
  await holder.query('begin');
  await holder.query('update orders set day = day where id = 1');
  const waiter = await server.open('root');
  await waiter.query('set innodb_lock_wait_timeout = 600');
  waiter.query('update orders set day = day where id = 1').catch(() => {});
  for (let n = 0; n < 6; n++) await server.open('root');
}

/** Starts an ALTER TABLE that waits for those sessions. The peers would wait behind it. */
export async function alter(server: MysqlServer): Promise<void> {
  const session = await server.open('root');
  session.query('alter table orders add column late int').catch(() => {});
  await wait(2_500);
}
