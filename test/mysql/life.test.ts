import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Check } from '../../src/checks/check.ts';
import { CONN_AUTH_FAILED, CONN_UNREACHABLE } from '../../src/checks/connection-findings.ts';
import { mysqlChecks } from '../../src/checks/mysql/mysql-checks.ts';
import { runHealthCheck } from '../../src/monitor/run.ts';
import { liveThrough, readTickets } from '../support/provocation.ts';
import { startTestStore, type TestStore } from '../support/store.ts';
import { MysqlServer, PASSWORD } from './mysql-server.ts';
import { paste } from './paste.ts';
import { provocations } from './provocations.ts';
import { dialect, ENGINE } from './tested-server.ts';

let store: TestStore;
let server: MysqlServer;
beforeAll(async () => {
  [store, server] = await Promise.all([startTestStore(), MysqlServer.start()]);
});
afterAll(() => Promise.all([store?.stop(), server?.stop()]));

const shipped: Partial<Check>[] = [CONN_UNREACHABLE, CONN_AUTH_FAILED, ...mysqlChecks];

/** What they find within seconds depends on the speed of the machine. */
const others = Object.fromEntries(
  mysqlChecks.filter(({ comparesRuns }) => comparesRuns).map(({ id }) => [id, { minimum_seconds: 3_600 }]),
);

test.each(provocations)(
  '$check_id ($object, $severity): found and ticket open, fixed and ticket resolved',
  async (provocation) => {
    const { check_id, thresholds } = provocation;
    const check = shipped.find(({ id }) => id === check_id);
    const compared = { ...provocation, thresholds: { ...thresholds, minimum_seconds: 0 } };
    const given = { engine: ENGINE, host: server.socket, port: 3306, database: '' };
    const key = await store.watched(given, PASSWORD);
    const volatile = check?.volatile ?? false;
    await liveThrough([check?.comparesRuns ? compared : provocation], {
      store,
      server,
      key,
      others,
      volatile,
    });
  },
);

test('from the fourth note on a schema there is one ticket of the schema, which is resolved when all are mended', async () => {
  const check_id = 'MY_NON_INNODB';
  const key = await store.watched(
    { engine: ENGINE, host: server.socket, port: 3306, database: '' },
    PASSWORD,
  );
  const tickets = async () => {
    await runHealthCheck({ ...store.deps, thresholds: others }, key);
    return (await readTickets(store, key))
      .filter((ticket) => ticket.check_id === check_id)
      .map(({ object, status }) => `${status} ${object}`);
  };
  const make = (name: string) => server.run(`create table old_${name} (x int) engine = MyISAM`);
  for (const name of ['a', 'b', 'c']) await make(name);
  const single = (status: string) => ['a', 'b', 'c'].map((name) => `${status} \`shop\`.\`old_${name}\``);
  expect((await tickets()).sort()).toEqual(single('open'));

  await make('d');
  expect((await tickets()).sort()).toEqual(['open `shop`', ...single('resolved')]);
  expect((await tickets()).sort()).toEqual(['open `shop`', ...single('resolved')]);

  const group = (await readTickets(store, key)).find(({ object }) => object === '`shop`');
  expect(group?.severity).toBe('info');
  paste(server, group?.remediation ?? '');
  expect((await tickets()).sort()).toEqual(['resolved `shop`', ...single('resolved')]);
  await server.run(['a', 'b', 'c', 'd'].map((name) => `drop table old_${name}`));
});

const hidden: [string, string[], string[]][] = [
  [
    'with the privilege that shows tables',
    ['revoke references on *.* from watcher@localhost'],
    ['grant references on *.* to watcher@localhost'],
  ],
];
const hiddenByMySql: typeof hidden = [
  [
    'by a partial revoke',
    ['set global partial_revokes = on', 'revoke references on `my crm`.* from watcher@localhost'],
    ['grant references on *.* to watcher@localhost', 'set global partial_revokes = off'],
  ],
  [
    'by the partial revoke of a role',
    [
      'set global partial_revokes = on',
      'create role seer',
      'grant references on *.* to seer',
      'revoke references on `my crm`.* from seer',
      'revoke references on *.* from watcher@localhost',
      'grant seer to watcher@localhost',
      'set default role seer to watcher@localhost',
    ],
    ['drop role seer', 'grant references on *.* to watcher@localhost', 'set global partial_revokes = off'],
  ],
];

test.each([...hidden, ...dialect({ mysql: hiddenByMySql, mariadb: [] })])(
  'tickets of a schema that is hidden %s stay open until a run sees it again, or it was dropped',
  async (by, hide, show) => {
    const isPartial = by.includes('partial');
    const check_id = 'MY_NON_INNODB';
    const key = await store.watched(
      { engine: ENGINE, host: server.socket, port: 3306, database: '' },
      PASSWORD,
    );
    const run = async () => {
      const stored = await runHealthCheck({ ...store.deps, thresholds: others }, key);
      const { status } = stored?.checks.find((check) => check.check_id === check_id) ?? {};
      const tickets = (await readTickets(store, key)).filter((ticket) => ticket.check_id === check_id);
      return [status, ...tickets.map((ticket) => `${ticket.status} ${ticket.object}`)];
    };
    await server.run(['create database `my crm`', 'create table `my crm`.kept (x int)']);
    for (const table of ['`my crm`.a', '`my crm`.b', 'shop.c'])
      await server.run(`create table ${table} (x int) engine = MyISAM`);
    const [a, b, c] = ['`my crm`.`a`', '`my crm`.`b`', '`shop`.`c`'];
    expect(await run()).toEqual(['info', `open ${a}`, `open ${b}`, `open ${c}`]);
    await server.run(hide);
    await server.run('drop table shop.c');
    // Only the schema is hidden, or nobody knows which.
    const ofShop = `${isPartial ? 'resolved' : 'open'} ${c}`;
    expect(await run()).toEqual(['skipped', `open ${a}`, `open ${b}`, ofShop]);
    await server.run([...show, 'drop table `my crm`.a']);
    expect(await run()).toEqual(['info', `resolved ${a}`, `open ${b}`, `resolved ${c}`]);
    await server.run(hide);
    await server.run('drop database `my crm`');
    expect((await run()).at(0)).toBe(isPartial ? 'ok' : 'skipped');
    await server.run(show);
    expect(await run()).toEqual(['ok', `resolved ${a}`, `resolved ${b}`, `resolved ${c}`]);
  },
);
