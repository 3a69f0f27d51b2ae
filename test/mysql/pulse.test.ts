import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { requireReading } from '../../src/monitor/pulse/blocking-fixture.ts';
import { blockingRoots } from '../../src/monitor/pulse/blocking-roots.ts';
import { HeldSession } from '../../src/monitor/pulse/held-session.ts';
import { endRoot } from '../../src/runs/episodes/end-root.ts';
import { waitFor } from '../support/wait-for.ts';
import { MysqlServer, PASSWORD } from './mysql-server.ts';
import { ENGINE, ON_MYSQL } from './tested-server.ts';

let server: MysqlServer;
beforeAll(async () => {
  server = await MysqlServer.start();
  await server.run([
    'create table orders (id int primary key, paid int)',
    'insert into orders values (1, 0)',
    // MariaDB does not show the holders of metadata locks without it.
    `update performance_schema.setup_instruments set enabled = 'YES' where name = 'wait/lock/metadata/sql/mdl'`,
  ]);
});
afterAll(() => server?.stop());

function hold(username = 'watcher', on = server): HeldSession {
  const held = new HeldSession(
    {
      engine: ENGINE,
      connectionType: 'unix_socket',
      host: on.socket,
      port: 3306,
      database: '',
      username,
      password: PASSWORD,
      tls: 'disable',
      passwordExposable: false,
      caCertificate: null,
      tunnel: null,
    },
    true,
  );
  onTestFinished(() => held.end());
  return held;
}

/** The first root with so many sessions behind it that wait for such a lock. MariaDB shows what was a moment ago. */
async function rootOf(held: HeldSession, locks: readonly string[]) {
  return waitFor(
    async () => {
      const answer = await held.pulse();
      if (!('reading' in answer)) throw new Error(JSON.stringify(answer));
      const [root] = blockingRoots(answer.reading);
      expect(root?.waits.map(({ lock }) => lock)).toEqual(locks);
      return root;
    },
    { interval: 200 },
  );
}

async function openAll(count: number) {
  const sessions = await Promise.all(Array.from({ length: count }, () => server.open('app')));
  onTestFinished(() => {
    for (const session of sessions) session.destroy();
  });
  return sessions;
}

const EPISODE = {
  began_at: new Date(),
  seen_at: new Date(),
  ended_at: null,
  database: 'shop',
  role: 'app',
  application: '',
  most_sessions: 2,
  longest_seconds: 2,
  lost_seconds: 4,
};

test('reads the server, and keeps its session', async () => {
  const held = hold();
  const answer = await held.pulse();
  expect(answer).toMatchObject({
    reading: { isStandby: false, room: null, lockWaitTimeout: 50, waits: [], connections: { allowed: 20 } },
  });
  const again = await held.pulse();
  const startOf = (one: typeof answer) => ('reading' in one ? one.reading.started : Number.NaN);
  expect(Math.abs(startOf(answer) - startOf(again))).toBeLessThanOrEqual(1);
  expect(Math.abs(startOf(answer) - Date.now() / 1_000)).toBeLessThan(600);
});

test('groups the sessions that do the same', async () => {
  const [idle, ...others] = await openAll(3);
  await idle?.query('start transaction');
  await idle?.query('update orders set paid = paid + 1');
  for (const other of others) other.query('select sleep(120)').catch(() => {});
  const held = hold();
  const load = await waitFor(
    async () => {
      const answer = await held.pulse();
      if (!('reading' in answer)) throw new Error(JSON.stringify(answer));
      expect(answer.reading).toMatchObject({ active: 2, idleInTransaction: 1, replicaLag: null });
      expect(answer.reading.load).toHaveLength(2);
      return answer.reading;
    },
    { interval: 200 },
  );
  expect(load.load).toMatchObject([
    { state: 'active', wait: '', event: 'User sleep', role: 'app', database: 'shop', count: 2 },
    { state: 'idle in transaction', wait: 'Client', role: 'app', count: 1 },
  ]);
  expect(load.load[0]?.query).toMatch(ON_MYSQL ? /^[0-9a-f]{64}$/ : /^$/);
  expect(load.transactions?.commits).toBeGreaterThanOrEqual(0);
  await idle?.query('rollback');
});

test('names who holds a row for which others wait', async () => {
  const [app, ...others] = await openAll(3);
  await app?.query('start transaction');
  await app?.query('update orders set paid = 1');
  const waits = others.map((other) => other.query('update orders set paid = 2'));
  const root = await rootOf(hold(), ['row', 'row']);
  expect(root).toMatchObject({ session: { role: 'app', database: 'shop', state: 'idle in transaction' } });
  const session = root?.session ?? null;
  const ends = (role: string) =>
    endRoot(ENGINE, {
      ...EPISODE,
      root: root?.key ?? '',
      trees: [{ at: '', root: session && { ...session, role }, waits: [], sessions: 2 }],
    });
  expect(ends('system user')).toBeNull();
  expect(await server.run(ends("o'brien") ?? '')).toEqual([]);
  const [printed] = await server.run(ends('app') ?? '');
  await server.run(String(printed?.['statement']));
  await Promise.all(waits);
});

test('a crowd at one row does not hide a session that waits for another row', async () => {
  await server.run('insert into orders values (7, 0), (8, 0)');
  const [first, second, behind, ...crowd] = await openAll(15);
  for (const [session, id] of [
    [first, 7],
    [second, 8],
  ] as const) {
    await session?.query('start transaction');
    await session?.query('update orders set paid = 1 where id = ?', [id]);
  }
  const waits: (Promise<unknown> | undefined)[] = crowd.map((session) =>
    session.query('update orders set paid = 2 where id = 7'),
  );
  const held = hold();
  const root = await rootOf(held, Array(12).fill('row'));
  expect(root?.session?.pid).toBe(first?.threadId);
  waits.push(behind?.query('update orders set paid = 2 where id = 8'));
  await waitFor(
    async () => {
      const roots = blockingRoots(requireReading(await held.pulse()));
      expect(roots.map(({ session, waits }) => [session?.pid, waits.length])).toEqual([
        [first?.threadId, 12],
        [second?.threadId, 1],
      ]);
    },
    { interval: 200 },
  );
  await Promise.all([first?.query('rollback'), second?.query('rollback')]);
  await Promise.all(waits);
  await server.run('delete from orders where id > 1');
});

test('names who holds a table that others wait to change', async () => {
  const [app, other] = await openAll(2);
  await app?.query('start transaction');
  await app?.query('select * from orders');
  const alters = other?.query('alter table orders engine = InnoDB');
  const root = await rootOf(hold(), ['metadata']);
  expect(root?.session).toMatchObject({ role: 'app', state: 'idle in transaction' });
  await app?.query('rollback');
  await alters;
});

test('a session whose lock is in nobody’s way is no root', async () => {
  const [reader, locker, writer] = await openAll(3);
  await reader?.query('start transaction');
  await reader?.query('select * from orders');
  await locker?.query('lock tables orders read');
  const writes = writer?.query('update orders set paid = 1');
  const held = hold();
  await rootOf(held, ['metadata']);
  const pids = blockingRoots(requireReading(await held.pulse())).map(({ session }) => session?.pid ?? 0);
  // MariaDB shows the lock of LOCK TABLES READ as one of an ordinary reader.
  expect(new Set(pids)).toEqual(new Set([locker?.threadId, ...(ON_MYSQL ? [] : [reader?.threadId])]));
  await locker?.query('unlock tables');
  await writes;
  const alters = locker?.query(`alter table orders comment 'read'`);
  await rootOf(held, ['metadata']);
  const reads = writer?.query('select * from orders');
  const root = await rootOf(held, ['metadata', 'metadata']);
  expect(root?.session?.pid).toBe(reader?.threadId);
  await reader?.query('rollback');
  await Promise.all([alters, reads]);
});

test('names who uses a table without row locks for which others wait', async () => {
  await server.run([
    'create table old_style (id int primary key) engine = MyISAM',
    'insert into old_style values (1), (2), (3)',
  ]);
  const [reader, writer, behind] = await openAll(3);
  reader?.query('select sleep(120) from old_style').catch(() => {});
  const held = hold();
  await waitFor(
    async () => expect(requireReading(await held.pulse()).load[0]).toMatchObject({ event: 'User sleep' }),
    { interval: 200 },
  );
  const waits = [writer?.query('update old_style set id = id + 10')];
  await rootOf(held, ['table']);
  waits.push(behind?.query('select * from old_style'));
  const root = await rootOf(held, ['table', 'table']);
  expect(root).toMatchObject({
    session: { pid: reader?.threadId, state: 'active' },
    waits: [{ relation: 'shop.old_style' }, { relation: 'shop.old_style' }],
  });
  await server.run(`kill ${reader?.threadId}`);
  await Promise.all(waits);
});

test('without performance_schema, sessions and their waits are seen', async () => {
  const bare = await MysqlServer.start({ 'performance-schema': 'OFF' });
  onTestFinished(() => bare.stop());
  await bare.run(['create table orders (id int primary key, paid int)', 'insert into orders values (1, 0)']);
  const [app, other, third] = await Promise.all([bare.open('app'), bare.open('app'), bare.open('app')]);
  await app.query('start transaction');
  await app.query('update orders set paid = 1');
  const waits = [other.query('update orders set paid = 2')];
  const held = hold('watcher', bare);
  const read = async () => requireReading(await held.pulse());
  await waitFor(
    async () =>
      expect(await read()).toMatchObject({
        active: 1,
        idleInTransaction: 1,
        waits: [{ pid: other.threadId, lock: 'row' }],
      }),
    { interval: 200 },
  );
  waits.push(third.query(`alter table orders comment ''`));
  await waitFor(
    async () => expect((await read()).waits.map(({ lock }) => lock).sort()).toEqual(['metadata', 'row']),
    { interval: 200 },
  );
  await app.query('rollback');
  await Promise.all(waits);
  for (const session of [app, other, third]) session.destroy();
});

test.runIf(!ON_MYSQL)('without performance_schema, a plugin of MariaDB says who holds a table', async () => {
  const bare = await MysqlServer.start({ 'performance-schema': 'OFF' });
  onTestFinished(() => bare.stop());
  await bare.run([
    `install soname 'metadata_lock_info'`,
    'create table orders (id int primary key)',
    'create table others (id int primary key)',
  ]);
  const [reader, owner, beside] = await Promise.all([bare.open('app'), bare.open('app'), bare.open('app')]);
  for (const session of [reader, beside]) {
    await session.query('start transaction');
    await session.query('select * from others');
  }
  await reader.query('select * from orders');
  const alters = owner.query(`alter table orders comment 'x'`);
  const root = await rootOf(hold('watcher', bare), ['metadata']);
  expect(root).toMatchObject({ session: { pid: reader.threadId }, waits: [{ relation: 'shop.orders' }] });
  await reader.query('rollback');
  await alters;
  for (const session of [reader, owner, beside]) session.destroy();
});

test('names who holds a lock of GET_LOCK, without its name', async () => {
  const [holder, first, second] = await openAll(3);
  await holder?.query(`select get_lock('unspoken job', 0)`);
  const waits = [first, second].map((session) => session?.query(`select get_lock('unspoken job', 60)`));
  const held = hold();
  const root = await rootOf(held, ['user', 'user']);
  expect(root).toMatchObject({ session: { role: 'app', pid: holder?.threadId } });
  const reading = requireReading(await held.pulse());
  expect(JSON.stringify(reading)).not.toContain('unspoken');
  expect(reading.load).toContainEqual(
    expect.objectContaining({ wait: 'Lock', event: 'User lock', count: 2 }),
  );
  await holder?.query('do release_all_locks()');
  await Promise.race(waits);
  await Promise.all([first, second].map((session) => session?.query('do release_all_locks()')));
  await Promise.all(waits);
});

test('names a root of sessions that wait for each other, where the server does not end deadlocks', async () => {
  await server.run('set global innodb_deadlock_detect = off');
  const [one, two] = await openAll(2);
  await one?.query('insert into orders values (2, 0)');
  await Promise.all([one?.query('start transaction'), two?.query('start transaction')]);
  await one?.query('update orders set paid = 3 where id = 1');
  await two?.query('update orders set paid = 3 where id = 2');
  const waits = [
    one?.query('update orders set paid = 4 where id = 2').catch(() => {}),
    two?.query('update orders set paid = 4 where id = 1').catch(() => {}),
  ];
  const root = await rootOf(hold(), ['row']);
  expect(root?.session).toMatchObject({ role: 'app', state: 'active' });
  await server.run(`kill ${root?.session?.pid}`);
  await Promise.all(waits);
  await server.run('set global innodb_deadlock_detect = on');
});

test('reads the server beside a session that set its own clock', async () => {
  const [app] = await openAll(1);
  await app?.query('set timestamp = 1');
  app?.query('select sleep(120)').catch(() => {});
  const held = hold();
  await waitFor(
    async () =>
      expect(requireReading(await held.pulse())).toMatchObject({ active: 1, load: [{ state: 'active' }] }),
    { interval: 200 },
  );
});

test('looks for the primary again when its server stops to be one, though its session goes on', async () => {
  const held = hold();
  const ids = async () => {
    const rows = await server.run(`select id from information_schema.processlist where user = 'watcher'`);
    return rows.map(({ id }) => Number(id));
  };
  await held.pulse();
  const [before] = await ids();
  await server.run('set global read_only = on');
  expect(await held.pulse()).toMatchObject({ reading: { isStandby: true } });
  expect(await held.pulse()).toMatchObject({ reading: { isStandby: true } });
  const [after] = await ids();
  await held.pulse();
  expect(await ids()).toEqual([after]);
  expect(after).not.toBe(before);
  await server.run('set global read_only = off');
});

test('tells a deadlock with its statements, tables and victim, and no value of them', async () => {
  const [first, second] = await openAll(2);
  await server.run([
    'create table items (id int primary key, note varchar(20))',
    `insert into items values (1, ''), (2, '')`,
  ]);
  const held = hold();
  const read = async () => {
    const answer = await held.pulse();
    if (!('reading' in answer)) throw new Error(JSON.stringify(answer));
    return answer;
  };
  const before = (await read()).reading.deadlocks;
  const began = Date.now();
  await first?.query('start transaction');
  await second?.query('start transaction');
  await first?.query(`update items set note = 'unspoken-1' where id = 1`);
  await second?.query(`update items set note = 'unspoken-2' where id = 2`);
  const ends = await Promise.allSettled([
    first?.query(`update items set note = 'unspoken-3' where id = 2`),
    second?.query(`update items set note = 'unspoken-4' where id = 1`),
  ]);
  expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  const { reading, deadlock } = await read();
  expect(reading.deadlocks).toBe((before ?? 0) + 1);
  expect(deadlock?.transactions).toHaveLength(2);
  expect(deadlock?.transactions.filter(({ is_victim }) => is_victim)).toHaveLength(1);
  for (const one of deadlock?.transactions ?? [])
    expect(one).toMatchObject({
      command: 'UPDATE',
      tables: ['shop.items'],
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  expect(new Set(deadlock?.transactions.map(({ digest }) => digest)).size).toBe(1);
  expect(Math.abs((deadlock?.at ?? 0) - began)).toBeLessThan(10_000);
  expect(JSON.stringify(deadlock)).not.toMatch(/unspoken/);
  expect((await read()).deadlock).toBeUndefined();
  if (ON_MYSQL) {
    const [known] = await server.run([
      `select digest as digest from performance_schema.events_statements_summary_by_digest where digest_text like 'UPDATE%items%'`,
    ]);
    expect(known).toEqual({ digest: deadlock?.transactions[0]?.digest });
  }
});

test('a login without PROCESS reads nothing, and the server is not unreachable', async () => {
  expect(await hold('stranger').pulse()).toMatchObject({ failure: { kind: 'unread' } });
});
