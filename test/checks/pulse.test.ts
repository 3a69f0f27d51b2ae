import type pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { requireReading } from '../../src/monitor/pulse/blocking-fixture.ts';
import { type BlockingRoot, blockingRoots } from '../../src/monitor/pulse/blocking-roots.ts';
import { HeldSession } from '../../src/monitor/pulse/held-session.ts';
import { endRoot } from '../../src/runs/episodes/end-root.ts';
import { waitFor } from '../support/wait-for.ts';
import { PASSWORD, PostgresServer, toTarget } from './postgres-server.ts';

// What blocks sessions, on each version of PostgreSQL.

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
  await server.pause();
  await server.resume({ listen_addresses: '127.0.0.1', max_wal_senders: '5', wal_level: 'logical' });
  await server.run([
    'create table orders (id int primary key, paid int)',
    'insert into orders select n, 0 from generate_series(1, 10) n',
    'grant all on orders to app',
  ]);
});
afterAll(() => server?.stop());

async function open(login: 'postgres' | 'app' = 'app', database?: string): Promise<pg.Client> {
  const session = await server.open(login, database);
  onTestFinished(() => session.end());
  return session;
}

/** Pulses until one finds such a root, with so many sessions behind it. */
async function findRoot(of: { pid?: number; application: string }, waits: number): Promise<BlockingRoot> {
  const held = new HeldSession(toTarget(server), true);
  onTestFinished(() => held.end());
  return waitFor(
    async () => {
      const [root, ...others] = blockingRoots(requireReading(await held.pulse()));
      expect(others).toEqual([]);
      expect(root).toMatchObject({ session: of });
      expect(root?.waits).toHaveLength(waits);
      if (!root) throw new Error('nothing is blocked');
      return root;
    },
    { interval: 200 },
  );
}

const pidOf = async (session: pg.Client) =>
  (await session.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0;

const printed = ({ key, session }: BlockingRoot) =>
  endRoot('postgres', {
    root: key,
    ended_at: null,
    trees: [{ at: '', root: session, waits: [], sessions: 1 }],
  });

test('a reader is the root of all who wait behind an ALTER TABLE, and its statement frees them', async () => {
  const [reader, owner, ...others] = [await open(), await open('postgres'), await open(), await open()];
  await reader.query('begin; select from orders');
  const waits = [owner.query('alter table orders add column note text')];
  await findRoot({ pid: await pidOf(reader), application: 'app' }, 1);
  for (const other of others) waits.push(other.query('select from orders'));
  const root = await findRoot({ application: 'app' }, 3);
  await server.run(printed(root) ?? '');
  await Promise.all(waits);
});

test('a transaction that failed and was not rolled back is a root', async () => {
  const [failed, other] = [await open(), await open()];
  await failed.query('begin; update orders set paid = 1 where id = 1; savepoint before');
  await failed.query('select 1/0').catch(() => {});
  const waits = other.query('update orders set paid = 2 where id = 1');
  const root = await findRoot({ application: 'app' }, 1);
  expect(root.session?.state).toBe('idle in transaction (aborted)');
  await failed.query('rollback');
  await waits;
});

test('an old transaction is the root of an index that is built concurrently', async () => {
  const [old, builder] = [await open(), await open('postgres')];
  await old.query('begin; update orders set paid = 1 where id = 2');
  const builds = builder.query('create index concurrently paid on orders (paid)');
  const root = await findRoot({ pid: await pidOf(old), application: 'app' }, 1);
  expect(root.waits[0]?.lock).toMatch(/^(?:virtualxid|transactionid)$/);
  await old.query('rollback');
  await builds;
});

test('an autovacuum that prevents wraparound is a root, and no statement ends it', async () => {
  const [owner] = [await open('postgres')];
  await server.run([
    `create table old_rows (id int, pad text)
       with (autovacuum_freeze_max_age = 100000, autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1)`,
    `insert into old_rows select n, repeat('x', 500) from generate_series(1, 50000) n`,
    `create procedure use_up(transactions int) language plpgsql
       as 'begin for n in 1..transactions loop perform txid_current(); commit; end loop; end'`,
    'call use_up(110000)',
    'alter system set autovacuum_naptime = 1',
    'select pg_reload_conf()',
  ]);
  await server.until(
    `select count(*) > 0 from pg_stat_activity where query like 'autovacuum: VACUUM%old_rows (to prevent wraparound)'`,
  );
  const waits = owner.query('alter table old_rows add column note text');
  const root = await findRoot({ application: 'autovacuum worker' }, 1);
  expect(root.session?.role).toBe('');
  expect(printed(root)).toBeNull();
  await server.run([
    'alter system reset autovacuum_naptime',
    'select pg_reload_conf()',
    `select pg_cancel_backend(pid) from pg_stat_activity where backend_type = 'autovacuum worker'`,
  ]);
  await waits;
});

test('a worker of logical replication is a root, and no statement ends it', async () => {
  await server.run('create database copied', 'postgres');
  for (const database of ['shop', 'copied']) {
    const key = database === 'shop' ? '' : ' , n int';
    await server.run(`create table sent (id int primary key${key})`, database);
  }
  await server.run([
    'create publication sent_rows for table sent',
    `select pg_create_logical_replication_slot('copied', 'pgoutput')`,
  ]);
  await server.run(
    `create subscription copied connection 'host=127.0.0.1 port=${server.port} dbname=shop user=postgres password=''${PASSWORD}'''
       publication sent_rows with (create_slot = false, slot_name = 'copied', copy_data = false)`,
    'copied',
  );
  // The worker changes a row in a transaction that waits in a trigger.
  await server.run(
    [
      `create function linger() returns trigger language plpgsql as 'begin perform pg_sleep(3600); return new; end'`,
      'create trigger linger after insert on sent for each row execute function linger()',
      'alter table sent enable always trigger linger',
    ],
    'copied',
  );
  await server.run('insert into sent values (1)');
  const other = await open('postgres', 'copied');
  await server.until(
    `select count(*) > 0 from pg_stat_activity where wait_event = 'PgSleep' and backend_type like 'logical replication%'`,
  );
  const waits = other.query('begin; lock table sent').catch(() => {});
  const root = await findRoot({ application: expect.stringMatching(/^logical replication .*worker$/) }, 1);
  expect(printed(root)).toBeNull();
  await server.run('alter subscription copied disable', 'copied');
  await server.run(
    `select pg_terminate_backend(pid) from pg_stat_activity where backend_type like 'logical replication%worker'`,
  );
  await waits;
});
