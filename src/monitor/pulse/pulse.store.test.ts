import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { childrenOf } from '../../../test/support/process-tree.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { waitForLock } from '../../../test/support/wait-for-lock.ts';
import { alertsOf, ruleIn } from '../../notifications/alerts/alerts-fixture.ts';
import type { BlockingEpisode } from '../../runs/episodes/blocking-episode.ts';
import { endRoot } from '../../runs/episodes/end-root.ts';
import type { Key } from '../run-fixture.ts';
import { startMonitor } from '../schedule.ts';
import { requireReading } from './blocking-fixture.ts';
import { blockingRoots } from './blocking-roots.ts';
import { claimPulses, releasePulses } from './claim-pulses.ts';
import { HeldSession } from './held-session.ts';
import { loadPulse } from './load-pulse.ts';
import { startPulses } from './start-pulses.ts';
import { trackEpisodes } from './track-episodes.ts';

let store: TestStore;
let root: pg.Client;
beforeAll(async () => {
  store = await startTestStore({ max_prepared_transactions: '2' });
  root = await store.superuser();
  await root.query(`create role bob login password 'unspoken-bob'; create role narrow login connection limit 1 in role pg_monitor
    password 'unspoken-narrow'; create table orders (id int primary key, paid boolean);
    insert into orders values (1, false); grant select, update on orders to bob`);
});
afterAll(() => store.stop());

const IDS = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const;

/** A watched connection that is due in a day. */
async function scheduled(settings: Record<string, unknown>): Promise<Key> {
  const key = await store.watched();
  await store.set(key, settings);
  await store.writer.query(
    `insert into connection_schedule (account_id, connection_id, every, due_at) values ($1, $2, '1 d', now() + interval '1 d')`,
    [key.accountId, key.connectionId],
  );
  return key;
}

/** The only one with a pulse, every second. */
async function pulsed(settings: Record<string, unknown> = {}, thresholds: object = {}): Promise<Key> {
  await store.writer.query('update connection set pulse_seconds = 0');
  return scheduled({ pulse_seconds: 1, thresholds, ...settings });
}

async function opened(key: Key): Promise<HeldSession> {
  const loaded = await loadPulse(store.deps, key);
  if (!loaded) throw new Error('it was not loaded');
  const held = new HeldSession(loaded.target, true);
  onTestFinished(() => held.end());
  return held;
}

/** Bob changes a row and goes away; two others wait for it. */
async function standstill() {
  const bob = await store.superuser();
  await bob.query(
    `set application_name = 'psql'; set role bob; begin; update orders set paid = true where id = 1`,
  );
  const victims = await Promise.all([store.superuser(), store.superuser()]);
  const waits = victims.map((victim) => victim.query('update orders set paid = true where id = 1'));
  return {
    bob,
    async over() {
      await bob.query('rollback');
      await Promise.all(waits);
    },
  };
}

const readRuns = async ({ accountId }: Key) =>
  (
    await store.writer.query<{ reason: string | null; line: string }>(
      `select reason, findings::text as line from health_check where account_id = $1 order by health_check_id`,
      [accountId],
    )
  ).rows;

const readTickets = async ({ accountId }: Key, check: string) =>
  (
    await store.writer.query<{ status: string; severity: string; object: string }>(
      `select status, severity, object from ticket where account_id = $1 and check_id = $2`,
      [accountId, check],
    )
  ).rows;

const every = { interval: 100 };

test('a pulse names the root of a chain, and keeps its session open', async () => {
  const held = await opened(await pulsed());
  const { bob, over } = await standstill();
  onTestFinished(() => bob.query('rollback').then(() => {}));
  const [first] = await waitFor(async () => {
    const answer = await held.pulse();
    if (!('reading' in answer)) throw new Error(JSON.stringify(answer));
    const roots = blockingRoots(answer.reading);
    expect(roots[0]?.waits).toHaveLength(2);
    return roots;
  }, every);
  expect(first?.session).toMatchObject({
    database: 'postgres',
    state: 'idle in transaction',
    application: 'psql',
  });
  const sessions = () =>
    root.query<{ count: number }>(
      `select count(*)::int, min(backend_start)::text as began from pg_stat_activity where application_name = 'dbvitals' and usename = 'watcher'`,
    );
  const before = (await sessions()).rows[0];
  await held.pulse();
  expect((await sessions()).rows[0]).toEqual({ ...before, count: 1 });
  await over();
  await root.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'watcher'`);
  expect(await held.pulse()).toMatchObject({ reading: { waits: [] } }); // in a new session
  await held.end();
  expect(await held.pulse()).toMatchObject({ failure: { kind: 'unreachable' } });
});

test('the printed statement ends the session that blocks others, no later one of its process, and no backup', async () => {
  const held = await opened(await pulsed());
  const { bob, over } = await standstill();
  const lost = new Promise((resolve) => bob.once('error', resolve));
  const episode = await waitFor(async () => {
    const answer = await held.pulse();
    if (!('reading' in answer)) throw new Error(JSON.stringify(answer));
    const [first] = trackEpisodes(new Map(), answer.reading, new Date()).stored;
    if (!first) throw new Error('nobody has waited for two seconds');
    return first;
  }, every);
  const ended = async (one: BlockingEpisode) => (await root.query(endRoot('postgres', one) ?? '')).rowCount;
  const [pid, started] = episode.root.split('/').map(Number);
  expect(await ended({ ...episode, root: `${pid}/${(started ?? 0) - 1}` })).toBe(0);
  // As pg_dump does under another name.
  await bob.query(
    'reset role; select from pg_conversion, pg_default_acl, pg_transform limit 1; set role bob',
  );
  expect(await ended(episode)).toBe(0);
  await over();
  await bob.query('begin; update orders set paid = true');
  expect(await ended(episode)).toBe(1);
  await lost;
});

/** Pulses until the roots are as expected: each with its session's state, and how many wait for it. */
async function findRoots(held: HeldSession, expected: Record<string, number>[]) {
  return waitFor(async () => {
    const roots = blockingRoots(requireReading(await held.pulse()));
    const seen = roots.map(({ session, waits }) => ({ [session?.state ?? 'unknown']: waits.length }));
    expect(seen).toEqual(expected);
    return roots;
  }, every);
}

test('a crowd at one row does not hide a session that waits for another row', async () => {
  const held = await opened(await pulsed());
  await root.query('insert into orders values (7, false), (8, false) on conflict do nothing');
  const sessions = await Promise.all(Array.from({ length: 17 }, () => store.superuser()));
  const [first, second, behind, ...crowd] = sessions;
  const pay = (client: pg.Client | undefined, id: number) =>
    client?.query('update orders set paid = true where id = $1', [id]);
  for (const [client, id] of [
    [first, 7],
    [second, 8],
  ] as const) {
    await client?.query('begin');
    await pay(client, id);
  }
  const waits = crowd.map((client) => pay(client, 7));
  await findRoots(held, [{ 'idle in transaction': 14 }]);
  waits.push(pay(behind, 8));
  await findRoots(held, [{ 'idle in transaction': 14 }, { 'idle in transaction': 1 }]);
  for (const client of [first, second]) await client?.query('rollback');
  await Promise.all(waits);
});

test('a lock of an idle session, and a parallel query between root and victim, are parts of a chain', async () => {
  const held = await opened(await pulsed());
  const [holder, leader, victim] = await Promise.all([
    store.superuser(),
    store.superuser(),
    store.superuser(),
  ]);
  await holder.query(`create table held_by_one (id int); create table read_by_many as select n from generate_series(1, 9) n;
    create function peek() returns int language plpgsql parallel safe as 'begin perform from held_by_one; return 1; end'`);
  await holder.query('select pg_advisory_lock(7)');
  const advised = victim.query('select pg_advisory_lock(7)');
  await findRoots(held, [{ idle: 1 }]);
  await holder.query('select pg_advisory_unlock(7)');
  await advised;

  await holder.query('begin; lock table held_by_one');
  await leader.query(`set debug_parallel_query = on; set parallel_leader_participation = off; set parallel_setup_cost = 0;
    set parallel_tuple_cost = 0; set min_parallel_table_scan_size = 0`);
  await leader.query('begin; lock table read_by_many');
  const many = leader.query('select sum(peek()) from read_by_many');
  const behind = victim.query('select from read_by_many');
  const [first] = await findRoots(held, [{ 'idle in transaction': 2 }]);
  const { rows } = await holder.query<{ pid: number }>('select pg_backend_pid() as pid');
  expect(first?.session?.pid).toBe(rows[0]?.pid);
  await holder.query('rollback');
  await many;
  await leader.query('rollback');
  await behind;
});

test('a pulse is planned once in a session', async () => {
  const held = await opened(await pulsed());
  const lastStatement = async () => {
    requireReading(await held.pulse());
    const { rows } = await root.query<{ query: string }>(
      `select query from pg_stat_activity where usename = 'watcher' and application_name = 'dbvitals'`,
    );
    return rows.map(({ query }) => /prepare \w+|execute \w+/.exec(query)?.[0]);
  };
  expect(await lastStatement()).toEqual(['prepare dbvitals_1']);
  expect(await lastStatement()).toEqual(['execute dbvitals_1']);
});

test('a pulse groups the sessions that do the same', async () => {
  const held = await opened(await pulsed());
  const busy = await Promise.all(Array.from({ length: 3 }, () => store.superuser()));
  for (const client of busy) await client.query(`set application_name = 'report'; set role bob`);
  const sleeps = busy.slice(1).map((client) => client.query('select pg_sleep(60)').catch(() => {}));
  await busy[0]?.query('begin');
  const load = await waitFor(async () => {
    const answer = await held.pulse();
    if (!('reading' in answer)) throw new Error(JSON.stringify(answer));
    const mine = answer.reading.load.filter(({ application }) => application === 'report');
    expect(mine).toHaveLength(2);
    expect(answer.reading).toMatchObject({ active: 2, idleInTransaction: 1, replicaLag: null });
    expect(answer.reading.transactions?.commits).toBeGreaterThan(0);
    return mine;
  }, every);
  expect(load).toMatchObject([
    { state: 'active', wait: 'Timeout', event: 'PgSleep', database: 'postgres', count: 2 },
    { state: 'idle in transaction', wait: 'Client', event: 'ClientRead', count: 1 },
  ]);
  await root.query(`select pg_cancel_backend(pid) from pg_stat_activity where application_name = 'report'`);
  await Promise.all(sleeps);
});

test('a pulse reads names in no encoding, a transaction without a session, and what a login without pg_monitor sees', async () => {
  const [odd, waiter] = await Promise.all([store.superuser('template1'), store.superuser()]);
  await odd.query(
    `create database bytes template template0 encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C'`,
  );
  await root.query(`create role stranger login password 'unspoken-stranger'`);
  const inside = await store.superuser('bytes');
  await inside.query(
    `set client_encoding = 'SQL_ASCII'; do $$ begin execute format('create role %I superuser', 'caf' || chr(233)); end $$`,
  );
  await inside.query(
    `do $$ begin execute format('set session authorization %I', 'caf' || chr(233)); end $$; begin; select 1`,
  );
  await root.query(`begin; update orders set paid = true where id = 1; prepare transaction 'forgotten'`);
  const waits = waiter.query('update orders set paid = true where id = 1');
  onTestFinished(async () => {
    await inside.end();
    await root.query(`rollback prepared 'forgotten'`);
    await waits;
  });
  const key = await pulsed();
  const held = await opened(key);
  const found = await waitFor(async () => {
    const reading = requireReading(await held.pulse());
    expect(blockingRoots(reading)).toMatchObject([
      { key: '0', session: null, waits: [{ seconds: expect.any(Number) }] },
    ]);
    return reading;
  }, every);
  expect(found.idleInTransaction).toBeGreaterThan(0);
  const stranger = await pulsed({ username: 'stranger' });
  await store.set(stranger, {}, { password: 'unspoken-stranger' });
  const blind = requireReading(await (await opened(stranger)).pulse());
  expect(blind.connections.used).toBe(found.connections.used + 1);
  expect(blind).toMatchObject({ idleInTransaction: 0, waits: [{ blockers: [0] }] });
});

test('a pulse keeps its session while the server refuses its statement, because nobody can log in then', async () => {
  const held = await opened(await pulsed());
  requireReading(await held.pulse());
  const pids = async () =>
    (await root.query<{ pid: number }>(`select pid from pg_stat_activity where usename = 'watcher'`)).rows;
  const before = await pids();
  const locker = await store.superuser();
  await locker.query('begin; lock table pg_catalog.pg_database in access exclusive mode');
  expect(await held.pulse()).toMatchObject({
    failure: { kind: 'unread', reason: expect.stringMatching(/lock timeout/) },
  });
  await locker.query('rollback');
  requireReading(await held.pulse());
  expect(await pids()).toEqual(before);
});

test('a login that has room for one connection is not held', async () => {
  const key = await pulsed({ username: 'narrow' });
  await store.set(key, {}, { password: 'unspoken-narrow' });
  const held = await opened(key);
  expect(await held.pulse()).toMatchObject({ failure: { kind: 'no_room' } });
  const { rows } = await root.query(`select from pg_stat_activity where usename = 'narrow'`);
  expect(rows).toHaveLength(0);
});

test('a pulse is loaded again when a rule of its account was added', async () => {
  const key = await pulsed();
  const versionNow = async () =>
    (await claimPulses(store.writer, IDS[0])).find(({ accountId }) => accountId === key.accountId)?.version;
  const before = await versionNow();
  expect(await versionNow()).toBe(before);
  const id = await ruleIn(store, key, { metric: 'load_active_sessions', operator: '>', threshold: 20 });
  await ruleIn(store, key, {
    metric: 'blocked_sessions',
    operator: '>',
    threshold: 20,
    connection_ids: [await store.connection(key.accountId)],
  });
  expect(await versionNow()).not.toBe(before);
  expect((await loadPulse(store.deps, key))?.thresholds.rules).toMatchObject([
    { id, metric: 'load_active_sessions', threshold: 20 },
  ]);
  await releasePulses(store.writer, IDS[0]);
});

test('one monitor has a pulse, and another takes over when the claim ends', async () => {
  const key = await pulsed();
  const off = await scheduled({ pulse_seconds: 0 });
  const claimed = async (claimant: string) =>
    (await claimPulses(store.writer, claimant)).filter(({ accountId }) =>
      [key.accountId, off.accountId].includes(accountId),
    );
  expect(await claimed(IDS[0])).toMatchObject([{ ...key, every: 1 }]);
  expect(await claimed(IDS[1])).toEqual([]);
  expect(await claimed(IDS[0])).toMatchObject([key]); // it renews it
  await store.writer.query('update pulse_monitor set until = now() where monitor = $1', [IDS[0]]);
  expect(await claimed(IDS[1])).toMatchObject([key]);
  expect(await claimed(IDS[0])).toEqual([]);
  await releasePulses(store.writer, IDS[1]);
  expect(await claimed(IDS[0])).toMatchObject([key]);
});

test('a claim is one row of its monitor, and versions that know no leases go on beside it', async () => {
  const key = await pulsed();
  const hasClaimed = async (claimant: string) =>
    (await claimPulses(store.writer, claimant)).some(({ accountId }) => accountId === key.accountId);
  const readClaim = async () =>
    (
      await store.writer.query(
        `select xmin::text, pulse_by, pulse_until > now() + interval '20 min' as is_long from connection_schedule where account_id = $1`,
        [key.accountId],
      )
    ).rows[0];
  const setClaim = (claimant: string, until: string) =>
    store.writer.query(
      'update connection_schedule set pulse_by = $2, pulse_until = now() + $3::interval where account_id = $1',
      [key.accountId, claimant, until],
    );
  expect(await hasClaimed(IDS[0])).toBe(true);
  const claim = await readClaim();
  expect(claim).toMatchObject({ pulse_by: IDS[0], is_long: true }); // an earlier version takes none that is younger
  expect(await hasClaimed(IDS[0])).toBe(true);
  expect(await readClaim()).toEqual(claim);
  await setClaim(IDS[0], '20 min');
  expect(await hasClaimed(IDS[0])).toBe(true);
  expect(await readClaim()).toMatchObject({ is_long: true });

  await setClaim(IDS[1], '20 s'); // of an earlier version
  expect(await hasClaimed(IDS[0])).toBe(false);
  await setClaim(IDS[1], '0 s');
  expect(await hasClaimed(IDS[0])).toBe(true);
  await setClaim(IDS[1], '1 h'); // of a monitor of another store
  expect(await hasClaimed(IDS[0])).toBe(true);

  // A monitor that stood still for longer than its lease.
  await store.writer.query('update pulse_monitor set until = now() where monitor = $1', [IDS[0]]);
  expect(await hasClaimed(IDS[1])).toBe(true);
  expect(await hasClaimed(IDS[0])).toBe(false);
  await releasePulses(store.writer, IDS[1]);
  const { rows } = await store.writer.query('select monitor from pulse_monitor');
  expect(rows).toEqual([{ monitor: IDS[0] }]);
  await releasePulses(store.writer, IDS[0]);
});

test('blocked sessions are told after one run, which the pulse asks for, and resolved after one', async () => {
  const key = await pulsed({}, { PG_BLOCKED_SESSIONS: { warning_seconds: 2, critical_seconds: 3 } });
  await ruleIn(store, key, { metric: 'blocked_seconds', operator: '>=', threshold: 2 });
  const off = await scheduled({ pulse_seconds: 0 });
  const { over } = await standstill();
  const monitor = startMonitor({ ...store.deps, concurrency: 2, pulses: true });
  onTestFinished(() => monitor.stop());
  await waitFor(
    async () => expect(await readTickets(key, 'PG_BLOCKED_SESSIONS')).toMatchObject([{ status: 'open' }]),
    every,
  );
  expect(await alertsOf(store, key)).toMatchObject([{ state: 'open' }]);
  const [run] = await readRuns(key);
  expect(run?.reason).toBe('pulse');
  expect(run?.line).toMatch(/postgres\/postgres\/psql.* blocked 2 sessions for/);
  expect(monitor.pulsed()).toBe(1);
  await over();
  await waitFor(
    async () => expect(await readTickets(key, 'PG_BLOCKED_SESSIONS')).toMatchObject([{ status: 'resolved' }]),
    every,
  );
  expect(await alertsOf(store, key)).toMatchObject([{ state: 'resolved' }]);
  expect((await readRuns(key)).map(({ reason }) => reason)).toEqual(['pulse', 'pulse']);
  expect(await readRuns(off)).toEqual([]);
  await monitor.stop();
  const { rows } = await root.query(`select from pg_stat_activity where usename = 'watcher'`);
  expect(rows).toHaveLength(0);
  const { rows: claims } = await store.writer.query(
    'select from connection_schedule where account_id = $1 and pulse_by is not null',
    [key.accountId],
  );
  expect(claims).toHaveLength(0);
});

test('a monitor that stops waits until what its pulses saw is stored', async () => {
  const key = await pulsed();
  const { over } = await standstill();
  const holder = await store.superuser('store');
  await holder.query('begin; lock table blocking_episode');
  const monitor = startMonitor({ ...store.deps, concurrency: 1, pulses: true });
  onTestFinished(() => monitor.stop());
  await waitForLock(holder, 3); // two victims, and the episode
  const stopped = monitor.stop().then(() => 'stopped');
  expect(await Promise.race([stopped, wait(1_000, 'waits')])).toBe('waits');
  await holder.query('rollback');
  await stopped;
  const { rows } = await store.writer.query('select from blocking_episode where account_id = $1', [
    key.accountId,
  ]);
  expect(rows).toHaveLength(1);
  await over();
});

test('a server that is gone is told after two pulses and one try', async () => {
  const key = await pulsed({ host: '/nowhere', connection_type: 'unix_socket' });
  const monitor = startMonitor({ ...store.deps, concurrency: 2, pulses: true });
  onTestFinished(() => monitor.stop());
  await waitFor(
    async () => expect(await readTickets(key, 'CONN_UNREACHABLE')).toMatchObject([{ status: 'open' }]),
    every,
  );
  const [run] = await readRuns(key);
  expect(run).toMatchObject({ reason: 'pulse' });
  expect(run?.line).not.toMatch(/in 3 tries/);
});

test('a connection that the store could not give when it was claimed has its pulse a round later', async () => {
  await pulsed();
  let failures = 0;
  const query = (text: string, values: unknown[]) => {
    if (!text.includes('c.credential') || failures > 0) return store.writer.query(text, values);
    failures++;
    return Promise.reject(new Error('Connection terminated unexpectedly'));
  };
  const writer = Object.create(store.writer, { query: { value: query } });
  const pulses = startPulses({ ...store.deps, writer, wake: () => {} }, 50);
  onTestFinished(() => pulses.stop());
  await waitFor(() => expect(pulses.running()).toBe(1), every);
  expect(failures).toBe(1);
});

test('a connection whose pulse is off costs neither a session, nor a process, nor a statement', async () => {
  await store.writer.query('update connection set pulse_seconds = 0');
  const key = await scheduled({ pulse_seconds: 0, username: 'narrow' });
  await store.set(key, {}, { password: 'unspoken-narrow' });
  const statements: { text: string; values: unknown[] }[] = [];
  const query = (text: string, values: unknown[]) => {
    statements.push({ text, values });
    return store.writer.query(text, values);
  };
  const writer = Object.create(store.writer, { query: { value: query } });
  const rounds = () => statements.filter(({ text }) => text.includes('insert into pulse_monitor')).length;
  const before = childrenOf(process.pid);
  const pulses = startPulses({ ...store.deps, writer, wake: () => {} }, 20);
  onTestFinished(() => pulses.stop());
  await waitFor(() => expect(rounds()).toBeGreaterThan(5), every);
  expect(pulses.running()).toBe(0);
  expect(childrenOf(process.pid).filter((pid) => !before.includes(pid))).toEqual([]);
  // A round of the monitor is the same three statements, however many connections there are.
  expect(new Set(statements.map(({ text }) => text)).size).toBe(3);
  expect(statements.every(({ values }) => values.length === 1)).toBe(true);
  const { rows } = await root.query(`select from pg_stat_activity where usename = 'narrow'`);
  expect(rows).toHaveLength(0);
});
