import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Check } from '../../src/checks/check.ts';
import type { Row } from '../../src/checks/fault.ts';
import { mysqlChecks } from '../../src/checks/mysql/mysql-checks.ts';
import { endRoot } from '../../src/runs/episodes/end-root.ts';
import { measure, sample } from './measure.ts';
import { MysqlServer } from './mysql-server.ts';
import { dialect, ENGINE, FLUSH_STATUS, ON_MYSQL } from './tested-server.ts';

let server: MysqlServer;

// Not the machine's time zone, in which InnoDB records the start of a transaction.
beforeAll(async () => {
  server = await MysqlServer.start({ 'default-time-zone': '+11:00' });
  await server.run('create table orders (id int primary key, v int) engine=innodb charset=utf8mb4');
  await server.run('insert into orders values (1, 0), (2, 0)');
});
afterAll(() => server?.stop());
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await server.endSessions();
});

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
    /^User app, database shop, idle in transaction: its locks have blocked 2 sessions for [1-9] s;/,
  );
  const open = await measure(server, checkOf('MY_LONG_TRX'), { thresholds });
  expect(open.faults.map(({ object }) => object)).toEqual(['shop/app']);
  expect(open.faults[0]?.metricLine).toMatch(/the oldest for [1-9] s;/);
  await first?.end();
  await queued[0];
  await second?.end();
  await queued[1];
  await third?.end();
});

const instrumentLocks = (enabled: string) =>
  `update performance_schema.setup_instruments set enabled = '${enabled}' where name = 'wait/lock/metadata/sql/mdl'`;

const waitingFor = (state: string) =>
  `select count(*) = 1 from information_schema.processlist where state = '${state}' and time >= 1`;

test.each([
  ['YES', /; shop\/root holds it on `shop`\.`orders`: end that transaction\.$/],
  [
    'NO',
    /; the server does not show who holds it, most likely the oldest transaction, of shop\/root, open for/,
  ],
])('the holder of a metadata lock, instrumented: %s', async (enabled, expected) => {
  await server.run(instrumentLocks(enabled));
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

test('a prepared transaction without a session, which no list of locks names, is who holds a metadata lock', async () => {
  const prepared = await server.open('root');
  for (const step of ["start 'job'", "end 'job'", "prepare 'job'"]) {
    await prepared.query(`xa ${step}`);
    if (step.startsWith('start')) await prepared.query('update orders set v = 7 where id = 1');
  }
  await prepared.end();
  onTestFinished(async () => {
    await server.run("xa rollback 'job'").catch(() => {}); // what it locks would stay locked for the other tests
  });
  // MariaDB alters as far as it can, and those behind wait.
  const [altering, writing] = [await server.open('app'), await server.open('app')];
  const altered = altering.query('alter table orders comment = "x"');
  const state = dialect({
    mysql: 'Waiting for table metadata lock',
    mariadb: 'Committing alter table to storage engine',
  });
  await server.until(
    `select count(*) = 1 from information_schema.processlist where info like 'alter table%' and state = '${state}'`,
  );
  const written = writing.query('update orders set v = 8 where id = 2');
  await server.until(
    `select count(*) > 0 from information_schema.processlist where state = 'Waiting for table metadata lock' and time >= 1`,
  );
  const { faults } = await measure(server, checkOf('MY_MDL_WAIT'), { thresholds });
  expect(faults[0]?.metricLine).toMatch(
    /most likely a transaction without a session, open for .*; if it is a prepared XA transaction, commit it/,
  );
  expect(faults[0]?.remediation).toMatch(/^XA RECOVER;/);
  await server.run("xa rollback 'job'");
  await Promise.all([altered, written]);
  await Promise.all([altering.end(), writing.end()]);
});

test.each([
  ['YES', /; shop\/root holds it: it must call RELEASE_LOCK; else end its session\.$/],
  ['NO', /; the server does not show who holds it: ask it with the name of the lock\.$/],
])('the holder of a lock of GET_LOCK, instrumented: %s', async (enabled, expected) => {
  await server.run(instrumentLocks(enabled));
  const [holder, waiter, behind] = await Promise.all(
    (['root', 'app', 'root'] as const).map((login) => server.open(login)),
  );
  await holder?.query(`select get_lock('unspoken job', 0)`);
  await waiter?.query('begin');
  await waiter?.query('update orders set v = 5 where id = 1');
  const waits = [waiter?.query(`select get_lock('unspoken job', 60)`).catch(() => {})];
  await server.until(waitingFor('User lock'));
  waits.push(behind?.query('update orders set v = 6 where id = 1').catch(() => {}));
  await server.until(waiting(1, 2));
  const { faults } = await measure(server, checkOf('MY_MDL_WAIT'), { thresholds });
  expect(faults).toMatchObject([{ object: 'shop/app', metricLine: expect.stringMatching(expected) }]);
  expect(faults[0]?.metricLine).toContain('1 session waiting for a user lock (GET_LOCK), the longest for ');
  expect(JSON.stringify(faults)).not.toContain('unspoken');
  // The one that waits is no cause, and its transaction is open no longer than until it waits.
  expect((await measure(server, checkOf('MY_LOCK_WAITS'), { thresholds })).faults).toEqual([]);
  // The server counts waits in whole seconds, so up to one more is taken for the transaction's own.
  const open = await measure(server, checkOf('MY_LONG_TRX'), { thresholds: { warning_seconds: 2 } });
  expect(open.faults.filter(({ object }) => object === 'shop/app')).toEqual([]);
  const printed = await server.run(faults[0]?.remediation ?? '');
  if (enabled === 'YES') await server.run(String(printed[0]?.['statement']));
  else expect(printed).toMatchObject([{ user: 'app' }]);
  await holder?.end().catch(() => {});
  await waits[0];
  await waiter?.end();
  await waits[1];
  await behind?.end();
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

test('a dump of MySQL Shell is named between its statements too, in all sessions of its process', async () => {
  const shell = (process: string) => server.open('app', 'shop', { program_name: 'mysqlsh', _pid: process });
  const [main, worker, person] = [await shell('71'), await shell('71'), await shell('72')];
  for (const session of [main, worker, person]) {
    await session.query('start transaction with consistent snapshot');
    await session.query('select count(*) from orders');
  }
  const comment = '/* mysqlsh dump_instance, dumping table `shop`.`orders`, chunk ID: 0 */';
  await worker.query(`SELECT SQL_NO_CACHE \`id\` FROM \`shop\`.\`orders\` ${comment}`);
  await server.until(
    `select count(*) = 3 from information_schema.processlist where user = 'app' and command = 'Sleep' and time >= 2`,
  );
  const { faults } = await measure(server, checkOf('MY_LONG_TRX'), { thresholds });
  const lines = faults.map(
    ({ object, metricLine }) => [object, metricLine.replace(/ for .*?;/, ';')] as const,
  );
  // They are equally old. MariaDB, which MySQL Shell can't dump, keeps no statement that has ended.
  expect(lines.toSorted(([one], [other]) => `${one}`.localeCompare(`${other}`))).toEqual(
    dialect({
      mysql: [
        [
          'app (backup)',
          expect.stringMatching(/2 transactions open, the oldest; it is a backup by MySQL Shell: let it end/),
        ],
        ['shop/app', expect.stringMatching(/1 transaction open, the oldest; commit it/)],
      ],
      mariadb: [['shop/app', expect.stringMatching(/3 transactions open/)]],
    }),
  );
  for (const session of [main, worker, person]) await session.end();
});

test.each([
  [
    'YES',
    /; shop\/root holds it on `shop`\.`papers`, which is a backup by (?:mysqldump|mariadb-dump): let it end/,
  ],
  [
    'NO',
    /most likely the oldest transaction, of shop\/root, open for .*, which is a backup by (?:mysqldump|mariadb-dump): let it end/,
  ],
])('a backup is one finding, and named as such; locks instrumented: %s', async (enabled, blocks) => {
  await server.run([
    instrumentLocks(enabled),
    'drop table if exists papers', // of a try that failed
    'create table papers (id int primary key, v longblob) engine=innodb',
    `insert into papers select id, repeat('v', 8000000) from orders`,
    `grant process on *.* to stranger@localhost`,
  ]);
  const dump = server.dump('papers'); // it waits, because nobody reads its output
  const dumps = `info like 'SELECT /*!40001 %'`;
  await server.until(`select count(*) = 1 from information_schema.processlist where ${dumps} and time >= 1`);
  const waiter = await server.open('app');
  const altered = waiter.query('alter table papers comment = ""').catch(() => {});
  await server.until(waitingFor('Waiting for table metadata lock'));

  const open = await measure(server, checkOf('MY_LONG_TRX'), { thresholds });
  expect(open.faults).toMatchObject([
    {
      object: 'root (backup)',
      metricLine: expect.stringMatching(/it is a backup by (mysqldump|mariadb-dump): let/),
    },
  ]);
  const unnamed = await measure(server, checkOf('MY_LONG_TRX'), { thresholds }, 'stranger');
  expect(unnamed.faults).toMatchObject([
    { object: 'root (backup)', metricLine: expect.stringContaining('; it is a backup: let it end') },
  ]);
  const purge = await measure(server, checkOf('MY_HISTORY_LIST'), { thresholds: { warning: 0 } });
  expect(purge).toMatchObject({ faults: [], passMessage: expect.stringContaining('because a backup by') });
  const waits = await measure(server, checkOf('MY_MDL_WAIT'), { thresholds });
  expect(waits.faults).toMatchObject([{ object: 'shop/app', metricLine: expect.stringMatching(blocks) }]);
  const [{ id: pid } = {}] = await server.run(`select id from information_schema.processlist where ${dumps}`);
  const session = { pid: Number(pid), database: '', role: 'root', application: '', state: 'active' };
  const trees = [{ at: '', root: session, waits: [], sessions: 1 }];
  expect(await server.run(endRoot(ENGINE, { root: `${pid}/0`, ended_at: null, trees }) ?? '')).toEqual([]);
  for (const { remediation } of [...open.faults, ...waits.faults]) {
    expect(remediation).not.toContain("concat('KILL");
    expect(JSON.stringify(await server.run(remediation))).toContain('"root"');
  }
  dump.kill();
  await altered;
  await waiter.end();
  await server.run(['drop table papers', 'revoke process on *.* from stranger@localhost']);
});

test('a session whose lock is in nobody’s way is not named as a holder, nor ended', async () => {
  await server.run([
    instrumentLocks('YES'),
    'create table ledger (id int primary key, n int) engine=innodb',
    'insert into ledger values (1, 0)',
    'grant select on shop.ledger to stranger@localhost',
  ]);
  const [reader, locker, writer] = [
    await server.open('stranger'),
    await server.open('root'),
    await server.open('app'),
  ];
  await reader.query('start transaction');
  await reader.query('select * from shop.ledger');
  await locker.query('lock tables shop.ledger read');
  const writes = writer.query('update ledger set n = 1');
  await server.until(waitingFor('Waiting for table metadata lock'));
  const { faults } = await measure(server, checkOf('MY_MDL_WAIT'), { thresholds });
  const holders = /; (.*) holds it on/.exec(faults[0]?.metricLine ?? '')?.[1];
  const printed = (await server.run(faults[0]?.remediation ?? '')).map(({ statement }) => statement);
  if (ON_MYSQL) {
    expect(holders).toBe('shop/root');
    expect(printed).toEqual([`KILL ${locker.threadId};`]);
  } else expect(printed).toContain(`KILL ${locker.threadId};`); // MariaDB shows it as a reader's
  await locker.query('unlock tables');
  await writes;
  for (const session of [reader, locker, writer]) await session.end();
  await server.run(['drop table ledger', 'revoke select on shop.ledger from stranger@localhost']);
});

test('who uses a table without row locks is named, and ended by the printed statement', async () => {
  await server.run([
    'create table old_style (id int primary key) engine = MyISAM',
    'insert into old_style values (1), (2), (3)',
  ]);
  const [reader, writer, behind] = [
    await server.open('root'),
    await server.open('app'),
    await server.open('app'),
  ];
  const reads = reader.query('select sleep(120) from shop.old_style').catch(() => {});
  await server.until(`select count(*) = 1 from information_schema.processlist where state = 'User sleep'`);
  const waits = [writer.query('update old_style set id = id + 10')];
  await server.until(waitingFor('Waiting for table level lock'));
  waits.push(behind.query('select * from old_style'));
  await server.until(
    `select count(*) = 2 from information_schema.processlist where state = 'Waiting for table level lock' and time >= 1`,
  );
  const { faults } = await measure(server, checkOf('MY_MDL_WAIT'), { thresholds });
  expect(faults).toMatchObject([
    {
      object: 'shop/app',
      metricLine: expect.stringMatching(
        /2 sessions waiting for a table of an engine without row locks, .*; .*root holds it on `shop`.`old_style`: let its statement end/,
      ),
    },
  ]);
  const printed = await server.run(faults[0]?.remediation ?? '');
  expect(printed.map(({ statement }) => statement)).toEqual([`KILL ${reader.threadId};`]);
  await server.run(String(printed[0]?.['statement']));
  await reads;
  await Promise.all(waits);
  for (const session of [writer, behind]) await session.end();
  await server.run('drop table old_style');
});

test('a session that holds a lock and waits itself is no blocker, whichever lock it waits for', async () => {
  await server.run([instrumentLocks('YES'), 'create table lists (id int primary key) engine=innodb']);
  const [cause, victim, altering] = await Promise.all(
    (['app', 'root', 'root'] as const).map((login) => server.open(login)),
  );
  for (const session of [cause, victim]) await session?.query('begin');
  await cause?.query('update orders set v = 1 where id = 1');
  await victim?.query('select id from lists');
  const updated = victim?.query('update orders set v = 2 where id = 1');
  await server.until(waiting(1, 1));
  const altered = altering?.query('alter table lists comment = ""');
  await server.until(waitingFor('Waiting for table metadata lock'));
  const { faults } = await measure(server, checkOf('MY_MDL_WAIT'), { thresholds });
  expect(faults[0]?.metricLine).toContain('holds it on `shop`.`lists`, and waits itself for a row lock');
  const [kill] = await server.run(faults[0]?.remediation ?? '');
  await server.run(String(kill?.['statement']));
  await updated; // what the victim waited for is gone
  await victim?.query('commit');
  await altered;

  const [reader, holder, blocked] = await Promise.all(
    (['app', 'root', 'root'] as const).map((login) => server.open(login)),
  );
  for (const session of [reader, holder]) await session?.query('begin');
  await reader?.query('select id from lists');
  const second = altering?.query('alter table lists comment = ""');
  await server.until(waitingFor('Waiting for table metadata lock'));
  await holder?.query('update orders set v = 1 where id = 1');
  const read = holder?.query('select id from lists');
  const late = blocked?.query('update orders set v = 2 where id = 1');
  await server.until(waiting(1, 1));
  expect((await measure(server, checkOf('MY_LOCK_WAITS'), { thresholds })).faults).toEqual([]);
  await reader?.end();
  await read;
  await holder?.end();
  await Promise.all([second, late]);
  await Promise.all([cause, victim, altering, blocked].map((session) => session?.end().catch(() => {})));
  await server.run('drop table lists');
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
