import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Key, runOnce } from '../../src/monitor/run-fixture.ts';
import { changesOf, found as foundIn, NOTHING } from '../../src/runs/changes/changes-fixture.ts';
import { storeLeaks } from '../support/secret-scan.ts';
import { startTestStore, type TestStore } from '../support/store.ts';
import { MysqlServer, PASSWORD } from './mysql-server.ts';
import { dialect, ENGINE } from './tested-server.ts';

let store: TestStore;
let server: MysqlServer;
beforeAll(async () => {
  [store, server] = await Promise.all([startTestStore(), MysqlServer.start()]);
  await server.run([
    'create table customers (id bigint primary key)',
    `create table orders (id bigint primary key, customer bigint, note varchar(20) default 'x', key by_customer (customer),
                          constraint of_customer foreign key (customer) references customers (id))`,
  ]);
});
afterAll(() => Promise.all([store?.stop(), server?.stop()]));

const found = (key: Key, work: () => Promise<unknown>) => foundIn(store, key, work);
const run = (statement: string) => server.run(statement);

async function watched(): Promise<Key> {
  const key = await store.watched(
    { engine: ENGINE, host: server.socket, port: 3306, database: '' },
    PASSWORD,
  );
  await runOnce(store, key);
  expect(await changesOf(store, key)).toEqual([]);
  return key;
}

test('a run without a change finds none', async () => {
  const key = await watched();
  expect(await found(key, async () => {})).toEqual([]);
  const { rows } = await store.writer.query<{ kind: string; facts: number }>(
    `select kind, jsonb_array_length(facts -> 'facts') as facts from fact_snapshot where connection_id = $1 order by 1`,
    [key.connectionId],
  );
  expect(rows.map(({ kind }) => kind)).toEqual([
    'extension',
    'schema',
    'schema_skipped',
    'server',
    'setting',
    'standby',
  ]);
  expect(rows.find(({ kind }) => kind === 'setting')?.facts).toBeGreaterThan(300);
});

test('SET GLOBAL is one change with its source; of a long list only what differs is shown', async () => {
  const key = await watched();
  expect(await found(key, () => run('set global max_connections = 30'))).toEqual([
    {
      ...NOTHING,
      kind: 'setting',
      subject: 'max_connections',
      before: '20',
      after: '30',
      source: 'SET GLOBAL',
    },
  ]);
  const [on, off] = dialect({ mysql: ['off', 'on'], mariadb: ['on', 'off'] }); // mrr is on by default on MySQL
  const [switched, ...others] = await found(key, () => run(`set global optimizer_switch = 'mrr=${on}'`));
  expect(others).toEqual([]);
  expect(switched).toMatchObject({
    subject: 'optimizer_switch',
    before: `… mrr=${off}`,
    after: `… mrr=${on}`,
  });
  await server.run(['set global optimizer_switch = default', 'set global max_connections = 20']);
});

test('tables, columns, indexes and foreign keys come, change and go', async () => {
  const key = await watched();
  expect(
    await found(key, () => run('alter table orders drop foreign key of_customer, drop key by_customer')),
  ).toEqual([
    {
      ...NOTHING,
      kind: 'index',
      subject: '`by_customer` on `shop`.`orders`',
      before: 'btree (customer)',
    },
    {
      ...NOTHING,
      kind: 'constraint',
      subject: '`of_customer` on `shop`.`orders`',
      before: expect.stringMatching(/^foreign key \(customer\) references `shop`\.`customers` \(id\), type/),
    },
  ]);
  expect(
    await found(key, () => run(`alter table orders modify note varchar(30) not null default 'y'`)),
  ).toEqual([
    {
      ...NOTHING,
      kind: 'column',
      subject: '`shop`.`orders`.`note`',
      before: `varchar(20) default 'x'`,
      after: `varchar(30) not null default 'y'`,
    },
  ]);
  expect(await found(key, () => run('drop table orders'))).toEqual([
    { ...NOTHING, kind: 'table', subject: '`shop`.`orders`', before: expect.stringMatching(/^InnoDB/) },
  ]);
});

test('what a login no longer sees did not go', async () => {
  const key = await watched();
  const revoke = 'revoke process, references on *.* from watcher@localhost';
  expect(await found(key, () => run(revoke))).toEqual([]);
  await run('grant process, references on *.* to watcher@localhost');
  expect(await found(key, async () => {})).toEqual([]);
});

test('a restart is one change, and a new role is a failover', async () => {
  const key = await watched();
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  expect(await found(key, () => server.restart({ 'server-id': '1' }))).toEqual([
    {
      ...NOTHING,
      kind: 'restart',
      subject: 'server',
      before: expect.stringMatching(/Z$/),
      after: expect.stringMatching(/Z$/),
    },
  ]);
  const role = { ...NOTHING, kind: 'failover', subject: 'role' };
  expect(await found(key, () => run('set global read_only = on'))).toEqual([
    { ...role, before: 'read-write, server id 1', after: 'read-only, server id 1' },
  ]);
  await run('set global read_only = off');
});

test('a plugin that came', async () => {
  const key = await watched();
  const [install, subject] = dialect({
    mariadb: [`install soname 'auth_ed25519'`, 'ed25519'],
    mysql: [`install plugin mysql_no_login soname 'mysql_no_login.so'`, 'mysql_no_login'],
  });
  const changes = await found(key, () => run(install));
  expect(changes).toEqual([
    { ...NOTHING, kind: 'extension', subject, after: expect.stringMatching(/ active$/) },
  ]);
});

test('a secret in a setting or a default is nowhere in the store', async () => {
  const secrets = [
    'planted-connect-1',
    'planted-report-2',
    'planted-default-3',
    'planted-url-4',
    'planted-server-5',
  ];
  const initReplica = dialect({ mysql: 'init_replica', mariadb: 'init_slave' });
  const [connect, report, standard, url, other] = secrets;
  await server.restart({ 'report-password': `${report}` });
  const key = await watched();
  await server.run([
    `set global init_connect = "set @x = '${connect}'"`,
    `set global ${initReplica} = "set @x = '${other}'"`,
    `create table keys_of (api_token varchar(60) default '${standard}', place varchar(90) default 'http://ada:${url}@example.com/')`,
  ]);
  const changes = await found(key, async () => {});
  const hidden = expect.stringMatching(/^hidden \([0-9a-f]{8}\)$/);
  expect(changes).toContainEqual(expect.objectContaining({ subject: 'init_connect', after: hidden }));
  expect(changes).toContainEqual(expect.objectContaining({ subject: initReplica, after: hidden }));
  await run(`alter table keys_of modify api_token varchar(61) default '${standard}'`);
  expect(await found(key, async () => {})).toEqual([
    expect.objectContaining({
      before: expect.stringMatching(/^varchar\(60\) default hidden \([0-9a-f]{8}\)$/),
    }),
  ]);
  const [{ host = '', password = '' } = {}] = store.address;
  const place = `postgres://postgres:${encodeURIComponent(String(password))}@/store?host=${encodeURIComponent(host)}`;
  expect(await storeLeaks(place, secrets)).toEqual([]);
  expect(JSON.stringify(store.said)).not.toContain('planted');
  expect(
    (await storeLeaks(place, ['max_connections'])).length,
    'the scan reads the snapshots',
  ).toBeGreaterThan(0);
});
