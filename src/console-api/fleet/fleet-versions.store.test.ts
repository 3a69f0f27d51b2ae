import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { storeServer } from '../../connections/store-server.ts';
import { inTransaction } from '../../store/connect.ts';
import { type Owner, openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { Fleet } from './fleet-routes.ts';

let store: TestStore;
let console: TestConsole;
beforeAll(async () => {
  store = await startTestStore();
  console = await openTestConsole(store);
});
afterAll(async () => {
  await console.close();
  await store.stop();
});

const measured = (accountId: number, connectionId: number, version: number, at = '2026-03-01Z') =>
  inTransaction(store.writer, (client) =>
    storeServer(client, { accountId, connectionId, at }, { provider: null, version }),
  );

const connectionOf = async ({ accountId }: Owner, engine: string, version?: number) => {
  const id = await store.connection(accountId);
  await store.writer.query('update connection set engine = $3 where account_id = $1 and connection_id = $2', [
    accountId,
    id,
    engine,
  ]);
  if (version !== undefined) await measured(accountId, id, version);
  return id;
};

test('the fleet is filtered by the beginning of a version, and lists the series that it has', async () => {
  const ada = await console.owner();
  const eve = await console.owner();
  const [newest, older, mysql, mariadb] = [
    await connectionOf(ada, 'postgres', 180_004),
    await connectionOf(ada, 'postgres', 180_001),
    await connectionOf(ada, 'mysql', 80_036),
    await connectionOf(ada, 'mariadb', 101_106),
  ];
  const unmeasured = await connectionOf(ada, 'postgres');
  await connectionOf(eve, 'postgres', 170_001);
  const fleet = await ada.read<Fleet>('/fleet?sort=name');
  expect(Object.fromEntries(fleet.data.map(({ id, version }) => [id, version]))).toEqual({
    [newest]: '18.4',
    [older]: '18.1',
    [mysql]: '8.0.36',
    [mariadb]: '10.11.6',
    [unmeasured]: null,
  });
  const versions = [
    { engine: 'postgres', series: '18', connections: 2 },
    { engine: 'mysql', series: '8.0', connections: 1 },
    { engine: 'mariadb', series: '10.11', connections: 1 },
  ];
  expect(fleet.versions).toEqual(versions);
  for (const [query, ids] of [
    ['version=18', [newest, older]],
    ['version=18.4', [newest]],
    ['engine=postgres&version=18', [newest, older]],
    ['engine=mysql&version=18', []],
    ['version=8.0', [mysql]],
    ['version=1', []],
    ['version=10', [mariadb]],
  ] as const) {
    const found = await ada.read<Fleet>(`/fleet?${query}`);
    expect(
      found.data.map(({ id }) => id).toSorted((a, b) => a - b),
      query,
    ).toEqual(ids);
    expect(found.summary.total, query).toBe(ids.length);
    // What may be chosen next does not depend on what is chosen.
    expect(found.versions).toEqual(versions);
  }
  expect((await ada.refused('/fleet?version=18%25'))[0]).toBe(400);
});

test('a version is written when it changes only, and raises no generation', async () => {
  const { accountId } = await console.owner();
  const id = await store.connection(accountId);
  const state = async () =>
    (
      await store.writer.query(
        `select v.version, v.since, v.xmin::text, v.xmax::text, a.generation
           from account a left join connection_version v using (account_id) where a.account_id = $1`,
        [accountId],
      )
    ).rows[0];
  const { generation } = await state();
  await measured(accountId, id, 180_001, '2026-03-01Z');
  const first = await state();
  await measured(accountId, id, 180_001, '2026-03-02Z');
  expect(await state()).toEqual(first);
  await measured(accountId, id, 180_004, '2026-03-03Z');
  expect(await state()).toMatchObject({ version: 180_004, since: new Date('2026-03-03Z'), generation });
});

test('a limit keeps the first rows of the order, and counts all', async () => {
  const ada = await console.owner();
  for (const name of ['c', 'a', 'B', 'd']) await store.connection(ada.accountId, { name });
  const { data, summary } = await ada.read<Fleet>('/fleet?sort=name&limit=2');
  expect(data.map(({ name }) => name)).toEqual(['a', 'B']);
  expect(summary.total).toBe(4);
  expect((await ada.read<Fleet>('/fleet?limit=9')).data).toHaveLength(4);
  expect((await ada.refused('/fleet?limit=0')).slice(0, 2)).toEqual([400, 'invalid_parameter']);
});
