import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JudgementInput } from '../../src/checks/judgement-of.ts';
import { mysqlChecks } from '../../src/checks/mysql/mysql-checks.ts';
import { freePort } from '../contract/free-port.ts';
import type { SeenJudgement } from '../seen-judgement.ts';
import { type Login, MariadbServer } from './mariadb-server.ts';
import { measure } from './measure.ts';

let [north, south, replica]: MariadbServer[] = [];
const ports = new Map<MariadbServer, number>();

beforeAll(async () => {
  [north, south, replica] = await Promise.all([1, 2, 3].map(listening));
  for (const [name, source] of [
    ['north', at(north)],
    ['south', at(south)],
  ] as const) {
    await source.run([
      'reset master',
      `create user copier@'127.0.0.1' identified by 'copy'`,
      `grant replication slave on *.* to copier@'127.0.0.1'`,
      `create table shop.${name} (id int primary key)`,
    ]);
  }
  await at(replica).run(['reset master', copyFrom('north', at(north)), 'start all slaves']);
  await applied('north');
  await at(replica).run([`drop user copier@'127.0.0.1'`, copyFrom('south', at(south)), 'start all slaves']);
  await applied('south');
});
afterAll(() => Promise.all([north, south, replica].map((server) => server?.stop())));

/** A server that others can replicate from. */
async function listening(id: number): Promise<MariadbServer> {
  const port = await freePort();
  const server = await MariadbServer.start({
    ...{ 'skip-networking': 'OFF', 'bind-address': '127.0.0.1', port: String(port) },
    ...{ 'server-id': String(id), 'gtid-domain-id': String(id), 'slave-net-timeout': '20' },
  });
  ports.set(server, port);
  return server;
}

function at(server: MariadbServer | undefined): MariadbServer {
  if (!server) throw new Error('The server was not started.');
  return server;
}

/** Its GTIDs begin before the source's first. */
const copyFrom = (name: string, source: MariadbServer) =>
  `change master '${name}' to master_host = '127.0.0.1', master_port = ${ports.get(source)}, master_user = 'copier',
   master_password = 'copy', master_connect_retry = 1, master_use_gtid = slave_pos`;

/** Waits until the replica has the source's last write. */
async function applied(name: 'north' | 'south'): Promise<void> {
  const [row] = await at(name === 'north' ? north : south).run('select @@gtid_binlog_pos as gtid');
  await at(replica).until(`select master_gtid_wait('${row?.['gtid']}', 20) = 0`);
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

/** Runs a remediation like a person who pastes it. */
async function paste({ faults }: SeenJudgement): Promise<void> {
  const [statements = ''] = (faults[0]?.remediation ?? '').split(' -- ');
  await at(replica).run(statements.split(';').filter((statement) => statement.trim() !== ''));
}

const until = async (
  id: string,
  is: (judgement: SeenJudgement) => boolean,
  limits?: JudgementInput['thresholds'],
) => {
  for (let tries = 0; tries < 300; tries++) {
    const judgement = await judged(id, limits);
    if (is(judgement)) return judgement;
    await wait(100);
  }
  throw new Error(`${id} was not as awaited: ${JSON.stringify(await judged(id, limits))}`);
};
const well = ({ faults, skipped }: SeenJudgement) => faults.length === 0 && skipped === undefined;
const faulty = ({ faults }: SeenJudgement) => faults.length > 0;

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
  expect(await until('MY_REPLICA_LAG', well)).toEqual({
    faults: [],
    passMessage: expect.stringMatching(
      /^2 sources, at most \d s behind; a silent one is noticed after 20 s\.$/,
    ),
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
  await paste(judgement);
  expect(await judged('MY_REPLICA_WRITABLE')).toEqual({
    faults: [],
    measures: [],
    passMessage: 'The replica is read-only.',
  });
});

test('a login without the privilege is refused, and the GRANT of the finding is enough', async () => {
  for (const id of ['MY_REPLICA_STOPPED', 'MY_REPLICA_LAG', 'MY_REPLICA_WRITABLE']) {
    await expect(judged(id, undefined, 'stranger'), id).rejects.toMatchObject({ errno: 1227 });
    const privilege = mysqlChecks.find((check) => check.id === id)?.privilege?.(101_119);
    await at(replica).run(`grant ${privilege} to stranger@localhost`);
    expect(await judged(id, undefined, 'stranger'), id).toMatchObject({ faults: [] });
    await at(replica).run(`revoke ${privilege} from stranger@localhost`);
  }
});

test.each([
  ['stop slave', 'the IO and the SQL thread are not running'],
  ['stop slave', 'the IO thread is stopped', 'io_thread'],
  ['stop slave', 'the SQL thread is stopped', 'sql_thread'],
])('%s: %s', async (stop, says, thread = '') => {
  await at(replica).run(`${stop} 'north' ${thread}`);
  const judgement = await until('MY_REPLICA_STOPPED', faulty);
  expect(judgement.faults).toMatchObject([
    { severity: 'critical', object: '`north`', remediation: `START REPLICA 'north';` },
  ]);
  expect(judgement.faults[0]?.metricLine).toContain(says);
  const lag = await judged('MY_REPLICA_LAG');
  const skipped = 'Not measured: replication is stopped, so the server reports no lag.';
  expect(lag).toEqual({ faults: [], skipped });
  await paste(judgement);
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
  await at(replica).run('delete from shop.north where id = 4711');
  await paste(judgement);
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
  expect(judgement.faults[0]?.metricLine).toContain("can't reach the source (error 2003)");
  expect((await judged('MY_REPLICA_LAG')).skipped).toBeDefined();
  await paste(judgement);
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
  await paste(judgement);
  await until('MY_REPLICA_LAG', well, limits);

  await holder.query('lock tables shop.north write');
  await at(north).run('insert into shop.north values (2)');
  const again = await until('MY_REPLICA_LAG', faulty, limits);
  expect(again.faults[0]?.remediation).toMatch(/^SHOW PROCESSLIST;/);
  await paste(again);
  await holder.end();
  await until('MY_REPLICA_LAG', well, limits);
});

test('a configured delay is no lag, whatever the server reports with several threads', async () => {
  await at(replica).run([
    `stop slave 'south'`,
    `change master 'south' to master_delay = 5`,
    `start slave 'south'`,
  ]);
  await until('MY_REPLICA_STOPPED', well);
  await at(south).run('insert into shop.south values (1)');
  const limits = { warning_seconds: 2 };
  let waited = 0;
  for (let tries = 0; tries < 40; tries++) {
    const [row] = await at(replica).run(`show slave 'south' status`);
    if (Number(row?.['Seconds_Behind_Master']) >= 2) waited++;
    expect((await judged('MY_REPLICA_LAG', limits)).faults).toEqual([]);
    await wait(100);
  }
  expect(waited).toBeGreaterThan(0);
});

test('a replica whose next binary log was purged is found', async () => {
  await at(replica).run(`stop slave 'north'`);
  await at(north).run(['insert into shop.north values (3)', 'flush binary logs', 'flush binary logs']);
  // It keeps a log for a moment, while its own thread and the one that served the replica still use it.
  for (;;) {
    const logs = await at(north).run('show binary logs');
    if (logs.length === 1) break;
    await at(north).run(`purge binary logs to '${logs.at(-1)?.['Log_name']}'`);
    await wait(50);
  }
  await at(replica).run(`start slave 'north'`);
  const judgement = await until(
    'MY_REPLICA_STOPPED',
    ({ faults }) => faults[0]?.metricLine.includes('1236') ?? false,
  );
  expect(judgement.faults).toMatchObject([{ severity: 'critical', object: '`north`' }]);
  expect(judgement.faults[0]?.metricLine).toContain('rebuild the replica');
  await at(replica).run([`stop slave 'north'`, `reset slave 'north' all`]);
  await until('MY_REPLICA_STOPPED', well);
});

test('a finding about a source without a name has no name', async () => {
  await at(replica).run([`stop slave 'south'`, `reset slave 'south' all`]);
  await at(replica).run(copyFrom('', at(south)));
  const judgement = await judged('MY_REPLICA_STOPPED');
  expect(judgement.faults).toMatchObject([{ object: null, remediation: 'START REPLICA;' }]);
  await paste(judgement);
  await until('MY_REPLICA_STOPPED', well);
});
