import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Check, Row } from '../../src/checks/check.ts';
import { mysqlChecks } from '../../src/checks/mysql/mysql-checks.ts';
import { measure, sample } from './measure.ts';
import { MysqlServer } from './mysql-server.ts';
import { dialect, FLUSH_STATUS } from './tested-server.ts';

let server: MysqlServer;

// Not the machine's time zone, in which InnoDB records the start of a transaction.
beforeAll(async () => {
  server = await MysqlServer.start({ 'default-time-zone': '+11:00' });
  await server.run('create table orders (id int primary key, v int) engine=innodb charset=utf8mb4');
  await server.run('insert into orders values (1, 0), (2, 0)');
});
afterAll(() => server?.stop());

function checkOf(id: string): Check {
  const check = mysqlChecks.find((each) => each.id === id);
  if (!check) throw new Error(`There is no check ${id}.`);
  return check;
}

const thresholds = { warning_seconds: 1 };

// Not innodb_trx: its contents do not change while it is read every 0.1 s.
const waiting = (sessions: number, seconds: number) =>
  `select count(*) = ${sessions} from information_schema.processlist where info like 'update orders%' and time >= ${seconds}`;

test('only the first session of a queue is a blocker, and its age is right in any time zone', async () => {
  const [first, second, third] = await Promise.all(
    ['app', 'root', 'root'].map(async (login) => {
      const session = await server.open(login as 'app' | 'root');
      await session.query('begin');
      return session;
    }),
  );
  await first?.query('update orders set v = 1 where id = 1');
  const queued = [second?.query('update orders set v = 2 where id = 1')];
  await server.until(waiting(1, 0));
  queued.push(third?.query('update orders set v = 3 where id = 1'));
  await server.until(waiting(2, 1));
  const blockers = await measure(server, checkOf('MY_LOCK_WAITS'), { thresholds });
  expect(blockers.faults).toMatchObject([{ object: 'shop/app', severity: 'warning' }]);
  expect(blockers.faults[0]?.metricLine).toMatch(
    /^User app, database shop: its locks have blocked 2 sessions for [1-9] s;/,
  );
  const open = await measure(server, checkOf('MY_LONG_TRX'), { thresholds });
  expect(open.faults.map(({ object }) => object).sort()).toEqual(['shop/app', 'shop/root']);
  expect(open.faults[0]?.metricLine).toMatch(/the oldest for [1-9] s;/);
  await first?.end();
  await queued[0];
  await second?.end();
  await queued[1];
  await third?.end();
});

const waitingFor = (state: string) =>
  `select count(*) = 1 from information_schema.processlist where state = '${state}' and time >= 1`;

test.each([
  ['YES', /; shop\/root holds it on `shop`\.`orders`: end that transaction\.$/],
  [
    'NO',
    /; the server does not show who holds it, most likely the oldest transaction, of shop\/root, open for/,
  ],
])('the holder of a metadata lock, instrumented: %s', async (enabled, expected) => {
  await server.run(
    `update performance_schema.setup_instruments set enabled = '${enabled}' where name = 'wait/lock/metadata/sql/mdl'`,
  );
  const holder = await server.open('root');
  await holder.query('begin');
  await holder.query('select id from orders');
  const waiter = await server.open('app');
  const altered = waiter.query('alter table orders comment = ""');
  await server.until(waitingFor('Waiting for table metadata lock'));
  const { faults } = await measure(server, checkOf('MY_MDL_WAIT'), { thresholds });
  expect(faults).toMatchObject([{ object: 'shop/app', metricLine: expect.stringMatching(expected) }]);
  await holder.end();
  await altered;
  await waiter.end();
});

test('a backup that blocks writers is a metadata lock wait too', async () => {
  const backup = await server.open('root');
  await backup.query('flush tables with read lock');
  const waiter = await server.open('app');
  const inserted = waiter.query('insert into orders values (3, 0)');
  await server.until(waitingFor(`Waiting for ${dialect({ mysql: 'global read', mariadb: 'backup' })} lock`));
  const { faults } = await measure(server, checkOf('MY_MDL_WAIT'), { thresholds });
  expect(faults).toMatchObject([{ object: 'shop/app', metricLine: expect.stringContaining('LOCK TABLES') }]);
  await backup.end();
  await inserted;
  await waiter.end();
});

test.each(['MY_LONG_TRX', 'MY_LOCK_WAITS', 'MY_MDL_WAIT'])(
  '%s is refused, not silent, without its GRANT',
  async (id) => {
    await expect(measure(server, checkOf(id), {}, 'stranger')).rejects.toMatchObject({ errno: 1227 });
    expect([checkOf(id).privilege?.(101_119)].flat()).toContain('PROCESS ON *.*');
  },
);

const counting = mysqlChecks.filter(
  ({ comparesRuns, id }) => comparesRuns && /BP_|LOG_W|TMP_|JOINS|SLOW|CACHE|ABORTED/.test(id),
);

test('checks of counters work without a privilege, unless they name one, and report a reset', async () => {
  const seconds = 60;
  for (const check of counting) {
    const rows: Row[] = await sample(server, check);
    const login = check.privilege ? 'watcher' : 'stranger';
    const silent = await measure(server, check, { before: { rows, seconds } }, login);
    expect(silent, check.id).toMatchObject({
      faults: [],
      passMessage: expect.stringContaining('since the last run'),
    });
    expect(silent.skipped).toBeUndefined();
  }
  const then = await Promise.all(counting.map((check) => sample(server, check)));
  await new Promise((done) => setTimeout(done, 4_000)); // Uptime is in whole seconds
  const skips = async () => {
    const reasons = [];
    for (const [n, check] of counting.entries()) {
      reasons.push((await measure(server, check, { before: { rows: then[n] ?? [], seconds } })).skipped);
    }
    return new Set(reasons);
  };
  expect(await skips()).toEqual(new Set([undefined]));
  await server.run(FLUSH_STATUS);
  expect(await skips()).toEqual(new Set(['Not measured: the statistics were reset since the last run.']));
  await server.restart();
  expect(await skips()).toEqual(new Set(['Not measured: the server was restarted since the last run.']));
});
