import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startHostileServer } from '../../test/support/hostile-server.ts';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { claimConnection, claimDueConnections, releaseConnection } from './claim.ts';
import { claimFairly } from './fair-share.ts';
import { LIMITS } from './limits.ts';
import type { ConnectionKey } from './monitor-deps.ts';
import { runHealthCheck } from './run.ts';
import { checkNow, startMonitor } from './schedule.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

const A = '00000000-0000-4000-8000-00000000000a';
const B = '00000000-0000-4000-8000-00000000000b';

/** A connection that was due `overdue` seconds ago and runs every `every` seconds. */
async function due(
  overdue: number,
  every = 3600,
  given: Record<string, unknown> = {},
): Promise<ConnectionKey> {
  const key = await store.watched(given);
  await store.writer.query(
    `insert into connection_schedule (account_id, connection_id, every, due_at)
     values ($1, $2, $3 * interval '1 s', now() - $4 * interval '1 s')`,
    [key.accountId, key.connectionId, every, overdue],
  );
  return key;
}

/** Seconds until the connection is due, who claimed it, and how often it was checked. */
async function standing({ accountId, connectionId }: ConnectionKey) {
  const { rows } = await store.writer.query<{ due_in: number; claimed_by: string | null; checks: number }>(
    `select extract(epoch from due_at - now())::float8 as due_in, claimed_by,
            (select count(*)::int from health_check h where h.account_id = s.account_id) as checks
       from connection_schedule s where account_id = $1 and connection_id = $2`,
    [accountId, connectionId],
  );
  const [row] = rows;
  if (!row) throw new Error('no schedule');
  return row;
}

async function until(condition: () => Promise<boolean>, milliseconds = 60_000): Promise<void> {
  const deadline = Date.now() + milliseconds;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('it did not come about');
    await wait(50);
  }
}

const claimed = async (claimant: string) =>
  (await claimDueConnections(store.writer, claimant, 100)).map(idOf);
const idOf = ({ connectionId }: ConnectionKey) => connectionId;

test('a due connection is claimed once, a dead monitor’s claim expires, and its late release has no effect', async () => {
  const key = await due(5);
  const later = await due(-60);
  expect(await claimed(A)).toEqual([key.connectionId]);
  expect(await claimed(B)).toEqual([]);
  await store.writer.query(`update connection_schedule set claimed_until = now() where connection_id = $1`, [
    key.connectionId,
  ]);
  expect(await claimed(B)).toEqual([key.connectionId]);
  await releaseConnection(store.writer, A, key, 'done');
  expect(await standing(key)).toMatchObject({ claimed_by: B });
  await releaseConnection(store.writer, B, key, 'done');
  expect(await standing(key)).toMatchObject({ claimed_by: null });
  expect(await standing(later)).toMatchObject({ claimed_by: null });
});

const secondsSince = (began: number) => (performance.now() - began) / 1_000;

test('after a run, a connection is due at its own instant of the interval, however late the run was', async () => {
  const HOUR = 3600;
  const dueAt = async (overdue: number) => {
    const key = await due(overdue, HOUR);
    await claimConnection(store.writer, A, key);
    await releaseConnection(store.writer, A, key, 'done');
    const first = await standing(key);
    const began = performance.now();
    expect(first.due_in).toBeGreaterThan(HOUR / 4 - 2);
    expect(first.due_in).toBeLessThanOrEqual((HOUR * 5) / 4);
    await store.writer.query(
      `update connection_schedule set due_at = now() - interval '3 h' where account_id = $1`,
      [key.accountId],
    );
    await claimConnection(store.writer, A, key);
    await releaseConnection(store.writer, A, key, 'done');
    const { due_in } = await standing(key);
    expect(Math.abs(due_in - first.due_in)).toBeLessThan(2 + secondsSince(began));
    await store.writer.query(`update connection_schedule set due_at = 'infinity'`);
    return first.due_in;
  };
  const instants = [];
  for (const overdue of [5, 5, 5, 5, 5, 5, 3605, 100_000])
    instants.push(Math.floor((await dueAt(overdue)) / 60));
  expect(new Set(instants).size).toBeGreaterThan(4); // spread over the hour, not in a herd
});

test('when a connection is due after a run that was not due, failed, was cancelled or overlapped a change', async () => {
  const cases: [Parameters<typeof releaseConnection>[3], number, number][] = [
    // outcome, overdue, due in
    ['done', -600, 600],
    ['failed', 5, 60],
    ['cancelled', 5, 0],
  ];
  for (const [outcome, overdue, dueIn] of cases) {
    const began = performance.now();
    const key = await due(overdue, 86_400);
    await claimConnection(store.writer, A, key);
    await releaseConnection(store.writer, A, key, outcome);
    const { due_in } = await standing(key);
    expect(Math.abs(due_in - dueIn)).toBeLessThan(2 + secondsSince(began));
    await store.writer.query(`update connection_schedule set due_at = 'infinity'`);
  }
  const key = await due(5, 86_400);
  await claimConnection(store.writer, A, key);
  await store.writer.query('update connection_schedule set due_at = now() where account_id = $1', [
    key.accountId,
  ]);
  await releaseConnection(store.writer, A, key, 'done');
  expect((await standing(key)).due_in).toBeLessThanOrEqual(0);
  await store.writer.query(`update connection_schedule set due_at = 'infinity'`);
});

test('a removed connection is never claimed', async () => {
  const key = await due(5);
  await store.writer.query('update connection set removed_at = now() where account_id = $1', [key.accountId]);
  expect(await claimed(A)).toEqual([]);
});

test('a requested check waits for the running one, then runs', async () => {
  const key = await due(-60);
  await claimConnection(store.writer, A, key);
  let done = false;
  const asked = checkNow(store.deps, key).finally(() => {
    done = true;
  });
  await wait(600);
  expect(done).toBe(false);
  await releaseConnection(store.writer, A, key, 'cancelled');
  expect((await asked)?.score).toBeGreaterThan(0);
  expect(await standing(key)).toMatchObject({ checks: 1, claimed_by: null });
});

test('two monitors share the due connections and check each once', async () => {
  const keys = await Promise.all(Array.from({ length: 12 }, () => due(5)));
  const monitors = [1, 2].map(() => startMonitor({ ...store.deps, concurrency: 2 }));
  await until(async () => (await Promise.all(keys.map(standing))).every(({ checks }) => checks > 0));
  await Promise.all(monitors.map((monitor) => monitor.stop()));
  for (const key of keys) expect(await standing(key)).toMatchObject({ checks: 1, claimed_by: null });
});

/** An account with `count` connections that were due an hour ago. */
async function greedyAccount(count: number, given: Record<string, unknown> = {}): Promise<number> {
  const accountId = await store.account();
  for (let n = 0; n < count; n += 1) {
    const id = await store.connection(accountId, given);
    await store.set({ accountId, connectionId: id }, {});
    await store.writer.query(
      `insert into connection_schedule (account_id, connection_id, every, due_at)
       values ($1, $2, interval '1 d', now() - interval '1 h')`,
      [accountId, id],
    );
  }
  return accountId;
}

const endSchedules = () =>
  store.writer.query(
    `update connection_schedule set due_at = 'infinity', claimed_by = null, claimed_until = null`,
  );

describe('if an account has more overdue connections than a monitor has slots', () => {
  beforeEach(endSchedules);
  afterAll(endSchedules);

  const share = async (claimant: string, held = new Map<number, number>()) => {
    const taken = await claimFairly(store.writer, claimant, { concurrency: 10, held });
    const counts = new Map<number, number>();
    for (const { accountId } of taken) counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
    return counts;
  };

  test('it gets half of the slots of each monitor while others wait, however long it has waited', async () => {
    const greedy = await greedyAccount(45);
    const waiting = await Promise.all(Array.from({ length: 7 }, () => due(1)));
    const late = await greedyAccount(45);
    for (const monitor of [A, B]) {
      const held = await share(monitor);
      expect(held.get(greedy)).toBeLessThanOrEqual(5);
      expect(held.get(late)).toBeLessThanOrEqual(5);
    }
    // The first monitor served the accounts with one connection before any account had two.
    for (const key of waiting) expect(await standing(key)).toMatchObject({ claimed_by: A });
  });

  test('it gets all but a quarter of the slots while no other account waits, so a new connection gets a slot at once', async () => {
    const greedy = await greedyAccount(30);
    const held = await share(A);
    expect([...held]).toEqual([[greedy, 8]]);
    expect(await share(A, held)).toEqual(new Map());
    const { accountId } = await due(0);
    expect([...(await share(A, held))]).toEqual([[accountId, 1]]);
  });

  test('two such accounts get half each, and a third gets the next free slot', async () => {
    const [one, two] = [await greedyAccount(20), await greedyAccount(20)];
    const held = await share(A);
    expect([held.get(one), held.get(two), held.size]).toEqual([5, 5, 2]);
    const { accountId } = await due(0);
    held.set(one, 4);
    expect([...(await share(A, held))]).toEqual([[accountId, 1]]);
  });

  test('it gets every slot if it is the only account', async () => {
    const root = await store.superuser('store');
    await root.query('delete from connection_schedule');
    const greedy = await greedyAccount(30);
    expect([...(await share(A))]).toEqual([[greedy, 10]]);
  });
});

describe('a run that a pulse asked for', () => {
  beforeEach(endSchedules);
  afterAll(endSchedules);

  /** Pulses ask for runs of the connections of an account, or of one: due now, behind all others. */
  const ask = (accountId: number, connectionId: number | null = null) =>
    store.writer.query(
      `update connection_schedule
          set due_at = now(), pulse_evidence = jsonb_build_object('holding', '["blocked"]'::jsonb, 'at', extract(epoch from now()))
        where account_id = $1 and connection_id = coalesce($2, connection_id)`,
      [accountId, connectionId],
    );
  const claimFor = (held: [number, number][] = [], asked?: number) =>
    claimFairly(store.writer, A, {
      concurrency: 10,
      held: new Map(held),
      ...(asked !== undefined && { asked }),
    });
  const idsOfAsked = (claims: Awaited<ReturnType<typeof claimFor>>) =>
    claims.flatMap(({ connectionId, evidence }) => (evidence === null ? [] : connectionId));

  test('comes first, however many others are due, also those of accounts without a run', async () => {
    const greedy = await greedyAccount(60);
    await Promise.all(Array.from({ length: 12 }, () => due(3_600)));
    const { rows } = await store.writer.query<{ id: number }>(
      'select max(connection_id)::int as id from connection_schedule where account_id = $1',
      [greedy],
    );
    await ask(greedy, rows[0]?.id);
    const claims = await claimFor([[greedy, 7]], 0);
    expect(claims[0]).toMatchObject({ connectionId: rows[0]?.id, evidence: { holding: ['blocked'] } });
    expect(idsOfAsked(claims)).toEqual([rows[0]?.id]);
    // The others leave a slot free for the next one.
    expect(claims).toHaveLength(2);
  });

  test('finds a free slot though an account fills the others, also if it is the only account', async () => {
    const root = await store.superuser('store');
    await root.query('delete from connection_schedule');
    const alone = await greedyAccount(30);
    const first = await claimFor([], 0);
    expect(first).toHaveLength(9);
    await ask(alone, (await due(-60)).connectionId); // of another account: nothing to claim
    await ask(alone);
    expect(await claimFor([[alone, 9]], 0)).toEqual([]); // there is another account now, and a quarter is for it
    await root.query('delete from connection_schedule where account_id <> $1', [alone]);
    expect(idsOfAsked(await claimFor([[alone, 9]], 0))).toHaveLength(1);
  });

  test('delays nobody: however many an account asks for, others get a quarter of the slots', async () => {
    const hostile = await Promise.all([greedyAccount(20), greedyAccount(20)]);
    await Promise.all(hostile.map((accountId) => ask(accountId)));
    const innocent = await due(1);
    const claims = await claimFor([], 0);
    expect(idsOfAsked(claims)).toHaveLength(8);
    expect(claims.map(idOf)).toContain(innocent.connectionId);
    const held = hostile.map((accountId): [number, number] => [accountId, 4]);
    const second = await due(1);
    expect((await claimFor(held, 8)).map(idOf)).toEqual([second.connectionId]);
  });

  test('waits in the order of all where a monitor has no pulses, or it was asked for long ago', async () => {
    const greedy = await greedyAccount(20);
    const key = await due(-60);
    await ask(key.accountId);
    expect(idOf((await claimFor())[0] ?? key)).not.toBe(key.connectionId);
    await ask(greedy);
    await store.writer.query(
      `update connection_schedule set pulse_evidence = pulse_evidence || '{"at": 1}' where account_id = $1`,
      [greedy],
    );
    expect(idsOfAsked(await claimFor([], 0))).toEqual([]);
  });
});

test('with two monitors, twelve silent connections of one account do not delay another account', async () => {
  const server = await startHostileServer(() => null);
  await greedyAccount(12, { connection_type: 'direct', host: '127.0.0.1', port: server.port });
  const monitors = [1, 2].map(() => startMonitor({ ...store.deps, concurrency: 4 }));
  await until(async () => monitors.every((monitor) => monitor.running() === 3));
  const other = await due(0);
  await until(async () => (await standing(other)).checks === 1);
  await Promise.all(monitors.map((monitor) => monitor.stop()));
  server.close();
  await endSchedules();
});

test('a connection with many silent hosts takes no longer than one with a single host', async () => {
  const server = await startHostileServer(() => null);
  const host = Array(8).fill(`127.0.0.1:${server.port}`).join(',');
  const key = await due(-60, 3600, { connection_type: 'direct', host, port: server.port });
  const limits = { ...LIMITS, connectMs: 300, reachMs: 700, betweenTriesMs: 10 };
  expect((await runHealthCheck({ ...store.deps, limits }, key))?.score).toBe(0);
  expect(server.connections()).toBeLessThanOrEqual(3);
  server.close();
});

test('a server that accepts and stays silent is reported in bounded time, and other checks are on time', async () => {
  const server = await startHostileServer(() => null);
  const silent = await due(9, 3600, { connection_type: 'direct', host: '127.0.0.1', port: server.port });
  const others = await Promise.all([due(5), due(5), due(5)]);
  const monitor = startMonitor({ ...store.deps, concurrency: 2 });
  await until(async () => (await Promise.all(others.map(standing))).every(({ checks }) => checks === 1));
  expect((await standing(silent)).checks).toBe(0);
  await until(async () => (await standing(silent)).checks === 1);
  await monitor.stop();
  server.close();
  const { rows } = await store.writer.query(
    'select score, findings from health_check where account_id = $1',
    [silent.accountId],
  );
  expect(rows).toMatchObject([{ score: 0, findings: [{ check_id: 'CONN_UNREACHABLE' }] }]);
});

test('stopping cancels a check that does not end, releases its claim and leaves it due', async () => {
  const server = await startHostileServer(() => null);
  const silent = await due(9, 3600, { connection_type: 'direct', host: '127.0.0.1', port: server.port });
  const monitor = startMonitor({ ...store.deps, concurrency: 2 });
  await until(async () => server.connections() > 0);
  const began = Date.now();
  await monitor.stop();
  server.close();
  expect(Date.now() - began).toBeLessThan(12_000);
  const { due_in, ...rest } = await standing(silent);
  expect(rest).toEqual({ claimed_by: null, checks: 0 });
  expect(due_in).toBeLessThan(0);
  await store.writer.query(`update connection_schedule set due_at = 'infinity'`);
});

test('an outage of the store is logged once, and the monitor continues afterwards', async () => {
  const monitor = startMonitor({ ...store.deps, concurrency: 2 });
  store.said.length = 0;
  await store.halt();
  await until(async () => store.said.some(({ level }) => level === 'error'));
  await wait(3_000);
  await store.start();
  const key = await due(0, 10);
  await until(async () => (await standing(key)).checks > 0);
  await monitor.stop();
  expect(store.said.filter(({ level }) => level === 'error')).toHaveLength(1);
  expect(store.said.map(({ message }) => message)).toContain('the store answers the monitor again');
});
