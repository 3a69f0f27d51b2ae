import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Fault } from '../../../src/checks/fault.ts';
import { xminHeld } from '../../../src/checks/postgres/xmin-held.ts';
import { expectOnPages } from '../../support/expect-on-pages.ts';
import { waitFor } from '../../support/wait-for.ts';
import { measure } from '../measure.ts';
import { paste, stepsOf } from '../paste.ts';
import { PASSWORD, PostgresServer, testedPrograms } from '../postgres-server.ts';
import { Standby } from '../standby.ts';
import { run } from './named-case.ts';

// Of the two standbys without a slot, one has a name that must be quoted, and the other looks the same.
const NAMES = { north: 'north', hostile: `s"b'c\\d;e--f`, alike: `s"b'c\\d;e -f` };

let primary: PostgresServer;
let standbys: Record<keyof typeof NAMES, Standby>;
const readers: pg.Client[] = [];

beforeAll(async () => {
  primary = await PostgresServer.start();
  await primary.run(`select pg_create_physical_replication_slot('north', true)`);
  await primary.pause();
  const follow = (name: keyof typeof NAMES, slot: Record<string, string> = {}) =>
    new Standby(primary, NAMES[name], testedPrograms(), {
      ...slot,
      hot_standby_feedback: 'on',
      wal_receiver_status_interval: '1s',
    });
  standbys = {
    north: follow('north', { primary_slot_name: 'north' }),
    hostile: follow('hostile'),
    alike: follow('alike'),
  };
  await primary.resume({ listen_addresses: '127.0.0.1', max_wal_senders: '5', wal_level: 'logical' });
  await Promise.all(Object.values(standbys).map((standby) => standby.start()));
});
afterAll(async () => {
  await Promise.all(readers.map((reader) => reader.end().catch(() => {})));
  await Promise.all(Object.values(standbys ?? {}).map((standby) => standby.stop()));
  await primary?.stop();
});

/** A query on a standby that keeps its snapshot, and a younger one. */
async function query(standby: Standby): Promise<void> {
  for (let count = 0; count < 2; count++) {
    const reader = await standby.open();
    readers.push(reader);
    await reader.query('begin isolation level repeatable read; select 1');
    await burn();
    await waitFor(async () => {
      const [row] = await standby.run('select pg_last_wal_replay_lsn()::text as at');
      const [own] = await primary.run(`select '${row?.['at']}'::pg_lsn >= pg_current_wal_lsn() as same`);
      expect(own?.['same']).toBe(true);
    });
  }
}

const burn = () =>
  primary.run(
    'do $$ begin for n in 1..60 loop create temp table burnt (); drop table burnt; commit; end loop; end $$',
  );

async function faults(): Promise<Fault[]> {
  const client = await primary.open('watcher');
  try {
    const thresholds = { warning_seconds: 0.2, warning_transactions: 100 };
    const found = (await measure(client, xminHeld, { thresholds })).faults;
    expectOnPages(found.map(({ remediation }) => [xminHeld.id, remediation]));
    return found;
  } finally {
    await client.end();
  }
}

/** Waits until exactly these are at fault. */
async function untilHeldBy(...objects: string[]): Promise<Fault[]> {
  let found: Fault[] = [];
  await waitFor(
    async () => {
      found = await faults();
      expect(found.map(({ object }) => object).sort()).toEqual(objects.toSorted());
    },
    { interval: 200 },
  );
  return found;
}

const of = (found: Fault[], object: string) =>
  found.find((fault) => fault.object === object)?.remediation ?? '';

test('active slots and standbys: the look shows one, and its standby ends one query', async () => {
  for (const standby of Object.values(standbys)) await query(standby);
  const objects = {
    north: 'slot north',
    hostile: `standby "${NAMES.hostile.replaceAll('"', '""')}"`,
    alike: `standby "${NAMES.alike.replaceAll('"', '""')}"`,
  };
  const standing = new Set(Object.values(objects));
  for (const name of ['north', 'hostile'] as const) {
    const remediation = of(await untilHeldBy(...standing), objects[name]);
    const shown = await paste(primary, remediation);
    expect([shown.includes('127.0.0.1'), shown.match(/127\.0\.0\.1/g)?.length]).toEqual([true, 1]);
    const steps = stepsOf(remediation);
    expect(steps).toHaveLength(1);
    const sessions = `select count(*)::int as open from pg_stat_activity where state = 'idle in transaction'`;
    for (const left of [1, 0]) {
      for (const step of steps) await standbys[name].run(step);
      await waitFor(async () => expect((await standbys[name].run(sessions))[0]).toEqual({ open: left }));
    }
    standing.delete(objects[name]);
    await burn();
  }
  await untilHeldBy(objects.alike);
  await readers.at(-1)?.query('rollback');
  await readers.at(-2)?.query('rollback');
  await untilHeldBy();
});

test('slots without a consumer: the steps drop one', async () => {
  for (const name of ['one', 'another'])
    await run(primary, `select pg_create_logical_replication_slot('${name}', 'pgoutput')`);
  await burn();
  await burn();
  const found = await untilHeldBy('slot one', 'slot another');
  await paste(primary, of(found, 'slot one'));
  for (const step of stepsOf(of(found, 'slot one'))) await paste(primary, step);
  await untilHeldBy('slot another');
  await primary.run(`select pg_drop_replication_slot('another')`);
});

/** Runs a test with a server that subscribes to the primary's table `fruit`. Its pid is that of the worker which applies. */
async function subscribed(
  work: (subscriber: PostgresServer, worker: () => Promise<number>) => Promise<void>,
) {
  const subscriber = await PostgresServer.start();
  try {
    await subscriber.pause();
    await subscriber.resume({ max_wal_senders: '5', wal_receiver_status_interval: '1s' });
    for (const server of [primary, subscriber])
      await server.run('create table fruit (name text primary key)');
    await primary.run('create publication fruits for table fruit');
    await subscriber.run(
      `create subscription feed connection 'host=127.0.0.1 port=${primary.port} user=postgres password=''${PASSWORD}'' dbname=shop' publication fruits`,
    );
    await subscriber.until(`select bool_and(srsubstate = 'r') from pg_subscription_rel`);
    await work(subscriber, async () => {
      const [row] = await subscriber.run(`select pid from pg_stat_subscription where pid is not null`);
      return Number(row?.['pid']);
    });
    await subscriber.run('drop subscription feed');
    await primary.run('drop publication fruits; DROP TABLE fruit');
  } finally {
    await subscriber.stop();
  }
}

/** The remediation of the slot, whose consumer does not confirm what the primary writes. */
async function heldByFeed(): Promise<string> {
  await primary.run(`insert into fruit values ('apple')`);
  await burn();
  await burn();
  const remediation = of(await untilHeldBy('slot feed'), 'slot feed');
  const [walSender] = await primary.run(
    `select pid from pg_stat_replication where application_name = 'feed'`,
  );
  const shown = await paste(primary, remediation);
  for (const word of ['feed', 'pgoutput', 'shop', String(walSender?.['pid'])]) expect(shown).toContain(word);
  expect(stepsOf(remediation)).toEqual([]);
  return remediation;
}

async function untilConfirmed(subscriber: PostgresServer): Promise<void> {
  await waitFor(
    async () => {
      await primary.run('checkpoint'); // logs the running transactions, as the server does every 15 s
      expect((await faults()).map(({ object }) => object)).toEqual([]);
    },
    { interval: 300 },
  );
  expect(await subscriber.run('select name from fruit')).toEqual([{ name: 'apple' }]);
}

test('a logical slot with a consumer: the look shows it, and it confirms when what it waits for ends', () =>
  subscribed(async (subscriber) => {
    const blocker = await subscriber.open();
    readers.push(blocker);
    await blocker.query('begin; lock table fruit in access exclusive mode');
    expect(await heldByFeed()).toContain('end the transaction that it waits for');
    await subscriber.run(
      'select pg_terminate_backend(b) from pg_stat_activity a, unnest(pg_blocking_pids(a.pid)) b',
    );
    await untilConfirmed(subscriber);
  }));

test('a logical slot whose consumer hangs: it confirms when it is restarted', () =>
  subscribed(async (subscriber, worker) => {
    const hanging = await worker();
    process.kill(hanging, 'SIGSTOP');
    try {
      expect(await heldByFeed()).toMatch(/; or, if it waits for none, restart it$/);
    } finally {
      process.kill(hanging, 'SIGKILL'); // its server then restarts all of its processes
    }
    await waitFor(() => subscriber.run('select'), { interval: 200 });
    await untilConfirmed(subscriber);
  }));
