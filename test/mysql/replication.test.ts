import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JudgementInput } from '../../src/checks/judgement-of.ts';
import { mysqlChecks } from '../../src/checks/mysql/mysql-checks.ts';
import { expectOnPages } from '../support/expect-on-pages.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import type { SeenJudgement } from '../support/seen-judgement.ts';
import { measure } from './measure.ts';
import { isFaulty as faulty, portOf, started, stopAll, isWell as well } from './mysql-replicas.ts';
import { type Login, type MysqlServer, PASSWORD } from './mysql-server.ts';
import { paste } from './paste.ts';
import { replication } from './replication-sql.ts';
import { dialect, ON_MYSQL } from './tested-server.ts';

let [north, south, replica]: MysqlServer[] = [];

beforeAll(async () => {
  const timeout = dialect({ mysql: 'replica-net-timeout', mariadb: 'slave-net-timeout' });
  const threads = ON_MYSQL ? { 'replica-parallel-workers': '1' } : {}; // MariaDB's default
  [north, south, replica] = await Promise.all(
    [1, 2, 3].map((id) => started(id, { [timeout]: '20', ...threads })),
  );
  await at(north).run('create table shop.north (id int primary key)');
  await at(south).run('create table shop.south (id int primary key)');
  for (const name of ['north', 'south'] as const)
    await at(replica).run([copyFrom(name), replication.start(name)]);
  await applied('north');
  await applied('south');
});
afterAll(stopAll);

function at(server: MysqlServer | undefined): MysqlServer {
  if (!server) throw new Error('The server was not started.');
  return server;
}

const sourceOf = (name: 'north' | 'south') => at(name === 'north' ? north : south);

/** Its GTIDs begin before the source's first. */
const copyFrom = (name: 'north' | 'south', connection: string = name) =>
  replication.copyFrom(connection, portOf(sourceOf(name)), PASSWORD);

/** Waits until the replica has the source's last write. */
async function applied(name: 'north' | 'south'): Promise<void> {
  const [row] = await sourceOf(name).run(replication.written);
  await at(replica).until(replication.hasApplied(String(row?.['gtid'])));
}

async function judged(
  id: string,
  thresholds: JudgementInput['thresholds'] = undefined,
  login: Login = 'watcher',
  on = at(replica),
): Promise<SeenJudgement> {
  const check = mysqlChecks.find((each) => each.id === id);
  if (!check) throw new Error(`There is no check ${id}.`);
  return measure(on, check, thresholds && { thresholds }, login);
}

/** Pastes the remediation into the replica's client. */
function pasteInto({ faults }: SeenJudgement): void {
  paste(at(replica), faults[0]?.remediation ?? '');
}

/** A transaction that was just applied counts as a second. */
const upToDate = ({ passMessage = '' }: SeenJudgement) => passMessage.includes('at most 0 s behind');

const START_NORTH = dialect({
  mysql: "START REPLICA FOR CHANNEL 'north';",
  mariadb: "START REPLICA 'north';",
});

const until = async (
  id: string,
  is: (judgement: SeenJudgement) => boolean,
  limits?: JudgementInput['thresholds'],
) => {
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await wait(100)) {
    const judgement = await judged(id, limits);
    if (is(judgement)) return judgement;
  }
  throw new Error(`${id} was not as awaited: ${JSON.stringify(await judged(id, limits))}`);
};

test('a server without a source is not a replica', async () => {
  for (const id of ['MY_REPLICA_STOPPED', 'MY_REPLICA_LAG', 'MY_REPLICA_WRITABLE'])
    expect(await judged(id, undefined, 'watcher', at(north)), id).toMatchObject({
      faults: [],
      passMessage: 'This server is not a replica.',
    });
});

test('two working sources are no fault, and no check fails', async () => {
  expect(await judged('MY_REPLICA_STOPPED')).toEqual({
    faults: [],
    passMessage: 'The replica replicates from 2 sources.',
    measures: [expect.objectContaining({ metric: 'stopped_replications_count', value: 0 })],
    truncated: false,
  });
  expect(await until('MY_REPLICA_LAG', upToDate)).toEqual({
    faults: [],
    passMessage: '2 sources, at most 0 s behind; a silent one is noticed after 20 s.',
    measures: [
      expect.objectContaining({ metric: 'replication_lag_seconds', object: '`north`' }),
      expect.objectContaining({ metric: 'replication_lag_seconds', object: '`south`' }),
      expect.objectContaining({ metric: 'lagging_replications_count', value: 0 }),
    ],
    near: [],
    truncated: false,
  });
  for (const { id } of mysqlChecks) await judged(id);
});

test('a writable replica is found and fixed', async () => {
  const judgement = await judged('MY_REPLICA_WRITABLE');
  expect(judgement.faults).toMatchObject([{ severity: 'warning', object: null }]);
  pasteInto(judgement);
  expectOnPages([['MY_REPLICA_WRITABLE', judgement.faults[0]?.remediation ?? '']]);
  expect(await judged('MY_REPLICA_WRITABLE')).toEqual({
    faults: [],
    measures: [],
    passMessage: 'The replica is read-only.',
  });
  if (ON_MYSQL) await at(replica).run('set global super_read_only = off'); // the superuser writes below
});

test('a login without the privilege is refused, and the GRANT of the finding is enough', async () => {
  for (const id of ['MY_REPLICA_STOPPED', 'MY_REPLICA_LAG', 'MY_REPLICA_WRITABLE']) {
    await expect(judged(id, undefined, 'stranger'), id).rejects.toMatchObject({ errno: 1227 });
    const privilege = mysqlChecks
      .find((check) => check.id === id)
      ?.privilege?.(dialect({ mysql: 90_704, mariadb: 101_119 }));
    await at(replica).run(`grant ${privilege} to stranger@localhost`);
    expect(await judged(id, undefined, 'stranger'), id).toMatchObject({ faults: [] });
    await at(replica).run(`revoke ${privilege} from stranger@localhost`);
  }
});

test.each([
  ['the IO and the SQL thread are not running', ''],
  ['the IO thread is stopped', 'io_thread'],
  ['the SQL thread is stopped', 'sql_thread'],
])('%s: found, and started by the remediation', async (says, thread) => {
  await at(replica).run(replication.stop('north', thread));
  const judgement = await until('MY_REPLICA_STOPPED', faulty);
  expect(judgement.faults).toMatchObject([
    { severity: 'critical', object: '`north`', remediation: START_NORTH },
  ]);
  expect(judgement.faults[0]?.metricLine).toContain(says);
  const lag = await judged('MY_REPLICA_LAG');
  const skipped = 'Not measured: replication is stopped, so the server reports no lag.';
  expect(lag).toEqual({ faults: [], skipped });
  pasteInto(judgement);
  await until('MY_REPLICA_STOPPED', well);
  await until('MY_REPLICA_LAG', well);
});

test('a SQL thread that stopped on an error: the finding has its number, and no value of the row', async () => {
  await at(replica).run('insert into shop.north values (4711)');
  await at(north).run('insert into shop.north values (4711)');
  const judgement = await until('MY_REPLICA_STOPPED', faulty);
  expect(judgement.faults).toMatchObject([{ severity: 'critical', object: '`north`' }]);
  expect(judgement.faults[0]?.metricLine).toContain('stopped on error 1062');
  expect(JSON.stringify(judgement)).not.toContain('4711');
  expect(judgement.faults[0]?.remediation).toContain(`fix the rows in the error, then ${START_NORTH}`);
  pasteInto(judgement);
  await at(replica).run(['delete from shop.north where id = 4711', replication.start('north')]);
  await applied('north');
  await until('MY_REPLICA_STOPPED', well);
});

test('a lost source is found while the other continues, and the replica reconnects by itself', async () => {
  await at(south).pause();
  const judgement = await until(
    'MY_REPLICA_STOPPED',
    ({ faults }) => faults[0]?.metricLine.includes('2003') ?? false,
  );
  expect(judgement.faults).toMatchObject([{ severity: 'critical', object: '`south`' }]);
  expect(judgement.faults[0]?.metricLine).toContain("can't reach the source (error 2003: the network");
  expect((await judged('MY_REPLICA_LAG')).skipped).toBeDefined();
  pasteInto(judgement);
  await at(south).resume();
  await until('MY_REPLICA_STOPPED', well);
});

test('a replica that waits for a lock lags; the remediation proposes several threads once', async () => {
  const holder = await at(replica).open('root');
  await holder.query('lock tables shop.north write');
  await at(north).run('insert into shop.north values (1)');
  const limits = { warning_seconds: 2, critical_seconds: 3600 };
  const near = await until('MY_REPLICA_LAG', (one) => one.near?.length === 1, { warning_seconds: 1.1 });
  expect(near).toMatchObject({ faults: [], near: ['`north`'] });
  const judgement = await until('MY_REPLICA_LAG', faulty, limits);
  expect(judgement.faults).toMatchObject([{ severity: 'warning', object: '`north`' }]);
  expect((await judged('MY_REPLICA_LAG', { warning_seconds: 1, critical_seconds: 2 })).faults).toMatchObject([
    { severity: 'critical' },
  ]);
  expect((await judged('MY_REPLICA_LAG')).faults).toEqual([]);
  await holder.query('unlock tables');
  pasteInto(judgement);
  await until('MY_REPLICA_LAG', well, limits);

  await holder.query('lock tables shop.north write');
  await at(north).run('insert into shop.north values (2)');
  const again = await until('MY_REPLICA_LAG', faulty, limits);
  expect(again.faults[0]?.remediation).toMatch(/^SHOW PROCESSLIST;/);
  pasteInto(again);
  await holder.end();
  await until('MY_REPLICA_LAG', well, limits);
});

test('a configured delay is no lag, whatever the server reports with several threads', async () => {
  await at(replica).run(replication.delay('south', 60));
  await until('MY_REPLICA_STOPPED', well);
  await at(south).run('insert into shop.south values (1)');
  const limits = { warning_seconds: 2 };
  let waited = 0;
  for (const end = performance.now() + PATIENCE_MS; waited < 10 && performance.now() < end; await wait(100)) {
    const [row] = await at(replica).run(replication.status('south'));
    if (Number(row?.[replication.behind]) >= 2) waited++;
    expect((await judged('MY_REPLICA_LAG', limits)).faults).toEqual([]);
  }
  expect(waited).toBe(10);
});

test('a replica whose next binary log was purged is found', async () => {
  await at(replica).run(replication.stop('north'));
  await at(north).run(['insert into shop.north values (3)', 'flush binary logs', 'flush binary logs']);
  // It keeps a log for a moment, while its own thread and the one that served the replica still use it.
  for (;;) {
    const logs = await at(north).run('show binary logs');
    if (logs.length === 1) break;
    await at(north).run(`purge binary logs to '${logs.at(-1)?.['Log_name']}'`);
    await wait(50);
  }
  await at(replica).run(replication.start('north'));
  const judgement = await until(
    'MY_REPLICA_STOPPED',
    ({ faults }) => faults[0]?.metricLine.includes(replication.purged) ?? false,
  );
  expect(judgement.faults).toMatchObject([{ severity: 'critical', object: '`north`' }]);
  expect(judgement.faults[0]?.metricLine).toContain('rebuild the replica');
  await at(replica).run(replication.forget('north'));
  await until('MY_REPLICA_STOPPED', well);
});

test('a finding about a source without a name has no name', async () => {
  await at(replica).run(replication.forget('south'));
  await at(replica).run(copyFrom('south', ''));
  const judgement = await judged('MY_REPLICA_STOPPED');
  expect(judgement.faults).toMatchObject([{ object: null, remediation: 'START REPLICA;' }]);
  pasteInto(judgement);
  await until('MY_REPLICA_STOPPED', well);
});

test('a promoted primary with leftover settings of its source is not told to start or to refuse writes', async () => {
  const [end, begin] = ['stop replica', 'reset replica'];
  await at(replica).run([end, begin, 'set global read_only = off']);
  const { faults } = await judged('MY_REPLICA_STOPPED');
  expect(faults).toMatchObject([{ severity: 'warning', object: null }]);
  expect(faults[0]?.metricLine).toContain('this server takes writes');
  const [look = '', steps = ''] = (faults[0]?.remediation ?? '').split(' -- ');
  expect(look).toMatch(/^SHOW [A-Z ]+; SELECT @@read_only;$/);
  expect((await judged('MY_REPLICA_WRITABLE')).faults).toEqual([]);
  // A replica that somebody stopped, and that others copy from, is critical, and told the same.
  await at(replica).run(dialect({ mysql: 'start replica', mariadb: 'start slave' }));
  await until('MY_REPLICA_STOPPED', well);
  expect((await judged('MY_REPLICA_WRITABLE')).faults[0]?.remediation).toMatch(/^SET /);
  // One whose first event has not arrived has not begun.
  await at(south).run('insert into shop.south values (990)');
  await applied('south');
  await at(replica).run([end]);
  expect((await judged('MY_REPLICA_STOPPED')).faults).toMatchObject([{ severity: 'critical' }]);
  paste(at(replica), look);
  paste(at(replica), /If so: (.*) If it is/.exec(steps)?.[1] ?? '');
  expect(await judged('MY_REPLICA_STOPPED')).toMatchObject({
    faults: [],
    passMessage: 'This server is not a replica.',
  });
});
