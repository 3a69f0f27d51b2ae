import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { ruleIn } from '../../notifications/alerts/alerts-fixture.ts';
import { type Key, runOnce } from '../run-fixture.ts';

let store: TestStore;
let root: pg.Client;
beforeAll(async () => {
  store = await startTestStore();
  root = await store.superuser();
});
afterAll(() => store.stop());

const KEYLESS = 'PG_NO_PRIMARY_KEY';

async function ticketsIn({ accountId }: Key, check = KEYLESS): Promise<string[]> {
  const { rows } = await store.writer.query<{ ticket: string }>(
    `select concat_ws(' ', database, object, status) as ticket from ticket
      where account_id = $1 and check_id = $2 order by ticket_id`,
    [accountId, check],
  );
  return rows.map(({ ticket }) => ticket);
}

async function alertStates({ accountId }: Key): Promise<string[]> {
  const { rows } = await store.writer.query<{ state: string }>(
    'select state from alert where account_id = $1 order by rule_id, alert_id',
    [accountId],
  );
  return rows.map(({ state }) => state);
}

/** A run's score, and what it says of the check. */
async function run(key: Key): Promise<{ score: number; said: string[] }> {
  const { score, checks } = await runOnce(store, key);
  const own = checks.filter(({ check_id }) => check_id === KEYLESS);
  return { score, said: own.map(({ status, metric_line }) => `${status} ${metric_line}`) };
}

/** Runs statements in a database, in a session that ends before a run. */
async function inDatabase(database: string, ...statements: string[]): Promise<void> {
  const client = await store.superuser(database);
  for (const statement of statements) await client.query(statement);
  await client.end();
}

const KEPT = 'Not measured in shop: the monitor sees nothing there, so tickets from there stay open.';

test.each([
  [
    'the login may not connect to',
    'revoke connect on database shop from public',
    'grant connect on database shop to public',
  ],
  [
    'lets nobody in',
    'alter database shop allow_connections false',
    'alter database shop allow_connections true',
  ],
  [
    'lets only superusers in',
    'alter database shop connection limit 0',
    'alter database shop connection limit -1',
  ],
  ['became a template', 'alter database shop is_template true', 'alter database shop is_template false'],
])(
  'tickets and alerts of a database that %s stay open until a run looks there again',
  async (_, shut, open) => {
    await root.query('create database shop');
    await inDatabase('shop', 'create table a (n int)', 'create table b (n int)');
    await inDatabase('postgres', 'create table here (n int)');
    const key = await store.watched();
    const counted = { metric: 'measure', operator: '>=', threshold: 2 } as const;
    await ruleIn(store, key, { ...counted, check_id: KEYLESS, measure: 'tables_without_primary_key_count' });
    const before = await run(key);
    expect(await ticketsIn(key)).toEqual([
      'postgres public.here open',
      'shop public.a open',
      'shop public.b open',
    ]);
    expect(await alertStates(key)).toEqual(['open']);

    await root.query(shut);
    const beside = await run(key);
    expect(beside.said).toEqual([expect.stringMatching(/^info .*public\.here/), `error ${KEPT}`]);
    expect(beside.score).toBeLessThanOrEqual(before.score);
    await inDatabase('postgres', 'drop table here');
    expect((await run(key)).said).toEqual([`skipped ${KEPT}`]);
    expect(await ticketsIn(key)).toEqual([
      'postgres public.here resolved',
      'shop public.a open',
      'shop public.b open',
    ]);
    expect(await alertStates(key)).toEqual(['open']);

    await root.query(open);
    await inDatabase('shop', 'drop table a');
    expect((await run(key)).said).toEqual([expect.stringMatching(/^info .*public\.b/)]);
    expect(await ticketsIn(key)).toEqual([
      'postgres public.here resolved',
      'shop public.a resolved',
      'shop public.b open',
    ]);
    expect(await alertStates(key)).toEqual(['resolved']);

    await root.query(shut);
    await run(key);
    await root.query('alter database shop is_template false');
    await root.query('drop database shop');
    expect((await run(key)).said).toEqual([expect.stringMatching(/^ok /)]);
    expect((await ticketsIn(key)).at(-1)).toBe('shop public.b resolved');
  },
);

test('the ticket of an own check whose database is left out stays open', async () => {
  await root.query('create database shop');
  const key = await store.watched();
  await store.writer.query(
    `insert into own_check (account_id, id, title, engine, database, sql, unit, operator, warning, remediation, timeout, tags, changed_at, changed_by)
     values ($1, 'QUEUE', 'Queue', 'postgres', 'shop', 'select 5 as value', 'count', '>=', 1, '', 5, '{}', now(), 'Ada')`,
    [key.accountId],
  );
  const statusOfQueue = async () => {
    const { checks } = await runOnce(store, key);
    return checks.filter(({ check_id }) => check_id === 'OWN_QUEUE').map(({ status }) => status);
  };
  expect(await statusOfQueue()).toEqual(['warning']);
  expect(await ticketsIn(key, 'OWN_QUEUE')).toEqual(['shop open']);
  for (const shut of [
    'revoke connect on database shop from public',
    'alter database shop allow_connections false',
  ]) {
    await root.query(shut);
    expect(await statusOfQueue()).toEqual(['error']);
    expect(await ticketsIn(key, 'OWN_QUEUE')).toEqual(['shop open']);
  }
  await root.query('drop database shop');
});

test('what a whole database has is told by another one while a run leaves it out, and is one ticket at a time', async () => {
  await root.query(
    `create database "My shop" template template0 encoding 'UTF8' locale_provider icu icu_locale 'de'`,
  );
  await root.query(`update pg_database set datcollversion = '1' where datname = 'My shop'`);
  const key = await store.watched();
  const open = async () => {
    await runOnce(store, key);
    return (await ticketsIn(key, 'PG_COLLATION_VERSION')).filter((ticket) => ticket.endsWith('open'));
  };
  expect(await open()).toEqual(['My shop "My shop" open']);
  await root.query('alter database "My shop" allow_connections false');
  expect(await open()).toEqual(['postgres "My shop" open']);
  await root.query('alter database "My shop" allow_connections true');
  expect(await open()).toEqual(['My shop "My shop" open']);
  await root.query('drop database "My shop"');
  expect(await open()).toEqual([]);
});
