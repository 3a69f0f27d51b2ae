import { setTimeout as wait } from 'node:timers/promises';
import { PASSWORD, PostgresServer, testedPrograms } from '../../test/checks/postgres-server.ts';
import { Standby } from '../../test/checks/standby.ts';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import type { Figure } from '../one-run.ts';
import { startProgram, stopProgram } from '../start-program.ts';

const ACCOUNTS = 100_000;
const CLIENTS = 8;
/** The checks that pulses make run. */
const PULSED = ['PG_BLOCKED_SESSIONS', 'PG_CONN_SATURATION', 'CONN_UNREACHABLE', 'PG_STANDBY_CUT_OFF'];

/** Measures whether ordinary work opens a ticket: transfers as pgbench has them, vacuum, backups, index builds, DDL and a replica's restarts. */
export async function measurePages(figure: Figure, minutes: number): Promise<void> {
  const [store, server] = await Promise.all([startTestStore(), PostgresServer.start()]);
  await server.pause();
  const standby = new Standby(server, 'north', testedPrograms());
  await server.resume({ listen_addresses: '127.0.0.1', max_wal_senders: '5' });
  await standby.start();
  await server.run([
    'alter system set max_connections = 100',
    'create table accounts (id int primary key, branch int, balance int)',
    `insert into accounts select n, n % 10, 0 from generate_series(1, ${ACCOUNTS}) n`,
    'create table branches (id int primary key, balance int)',
    'insert into branches select n, 0 from generate_series(0, 9) n',
  ]);
  await watch(store, server);
  const monitor = startProgram(store, 'monitor');
  const until = Date.now() + minutes * 60_000;
  try {
    console.log(
      `${minutes} minutes of ${CLIENTS} clients, with a vacuum, a backup, an index, DDL and a restart of the replica each minute`,
    );
    const counts = await Promise.all([
      ...Array.from({ length: CLIENTS }, () => transfer(server, until)),
      maintain(server, standby, until),
    ]);
    await report(
      store,
      counts.slice(0, CLIENTS).reduce((sum, count) => sum + count, 0),
      figure,
    );
  } finally {
    await stopProgram(monitor);
    await standby.stop();
    await Promise.all([store.stop(), server.stop()]);
  }
}

async function watch(store: TestStore, { host, port, database }: PostgresServer): Promise<void> {
  const key = await store.watched();
  await store.set(key, { host, port, database, username: 'watcher' }, { password: PASSWORD });
  await store.writer.query(
    `insert into connection_schedule (account_id, connection_id, every, due_at) values ($1, $2, '5 min', now())`,
    [key.accountId, key.connectionId],
  );
}

/** Transfers money between accounts until the time; all of them meet at ten branches. Returns how many it did. */
async function transfer(server: PostgresServer, until: number): Promise<number> {
  const client = await server.open();
  const any = (most: number) => Math.floor(Math.random() * most);
  let count = 0;
  for (; Date.now() < until; count++) {
    await client.query('begin');
    await client.query('update accounts set balance = balance + 1 where id = $1', [1 + any(ACCOUNTS)]);
    await client.query('update branches set balance = balance + 1 where id = $1', [any(10)]);
    await client.query('commit');
    await wait(any(20));
  }
  await client.end();
  return count;
}

/** What a database goes through beside its users, once a minute. Returns how often. */
async function maintain(server: PostgresServer, standby: Standby, until: number): Promise<number> {
  let count = 0;
  for (; Date.now() < until; count++) {
    const began = Date.now();
    await server.run('vacuum analyze accounts');
    await server.run('create index concurrently by_branch on accounts (branch)');
    await server.run('drop index concurrently by_branch');
    await server.run(`alter table accounts add column note_${count} text`);
    await dump(server);
    await standby.pause();
    await standby.start();
    await wait(Math.max(0, Math.min(until, began + 60_000) - Date.now()));
  }
  return count;
}

/** Reads all as pg_dump does: in one snapshot, with all tables locked. */
async function dump(server: PostgresServer): Promise<void> {
  const client = await server.open();
  await client.query(`set application_name = 'pg_dump'; begin isolation level repeatable read, read only`);
  await client.query('lock table accounts, branches in access share mode');
  for (let part = 0; part < 10; part++) {
    await client.query('select * from accounts where branch = $1', [part]);
    await wait(500);
  }
  await client.query('commit');
  await client.end();
}

async function report(store: TestStore, transfers: number, figure: Figure): Promise<void> {
  const { rows: tickets } = await store.writer.query<{ check_id: string; line: string }>(
    'select check_id, metric_line as line from ticket where check_id = any($1)',
    [PULSED],
  );
  for (const { check_id, line } of tickets) console.log(`  ${check_id}: ${line}`);
  const { rows } = await store.writer.query<{ runs: number; asked: number }>(
    `select count(*)::int as runs, (count(*) filter (where reason = 'pulse'))::int as asked from health_check`,
  );
  figure('transfers', transfers, '');
  figure('health checks', rows[0]?.runs ?? 0, '');
  figure('of them asked for by a pulse', rows[0]?.asked ?? 0, '');
  figure('tickets of what pulses see', tickets.length, '', 0);
}
