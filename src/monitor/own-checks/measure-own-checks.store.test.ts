import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore, WATCHER_PASSWORD } from '../../../test/support/store.ts';
import { ownCheck } from '../../checks/own/own-check-fixture.ts';
import { measureInChild } from '../children/measure-in-child.ts';
import type { Instructions } from '../measure.ts';
import type { Target } from '../session/session.ts';
import { lineOf } from './own-checks-fixture.ts';

let store: TestStore;
let root: Awaited<ReturnType<TestStore['superuser']>>;

beforeAll(async () => {
  store = await startTestStore();
  await (await store.superuser()).query('create database shop');
  root = await store.superuser('shop');
  await root.query(`
    create schema sales;
    alter role watcher in database shop set search_path = sales;
    create table sales.orders (queue text, waiting int);
    grant usage on schema sales to watcher;
    grant select on sales.orders to watcher;
    insert into sales.orders values ('mail', 3), ('print', 40);
  `);
});
afterAll(() => store.stop());

const NEVER = new AbortController().signal;

function measure(instructions: Pick<Instructions, 'own' | 'before'>, database = 'postgres') {
  const target: Target = {
    engine: 'postgres',
    connectionType: 'unix_socket',
    host: store.address[0]?.host ?? '',
    port: 5432,
    database,
    username: 'watcher',
    password: WATCHER_PASSWORD,
    tls: 'disable',
    passwordExposable: false,
    caCertificate: null,
    tunnel: null,
  };
  return measureInChild(
    { target, instructions: { allowPrivateTargets: true, thresholds: {}, ...instructions } },
    NEVER,
  );
}

test('a run measures own checks in their database, by the search_path of the login', async () => {
  const sql = 'select queue as object, waiting as value from orders;';
  const { outcomes, measures, cost } = await measure({
    own: [
      ownCheck({ id: 'QUEUES', database: 'shop', sql }),
      ownCheck({ id: 'HERE', sql: 'select 5 as value' }),
      ownCheck({ id: 'LOST', database: 'nowhere', sql: 'select 5 as value' }),
    ],
  });
  const of = (id: string) => outcomes.find(({ check }) => check.id === id);
  expect(of('OWN_QUEUES')).toMatchObject({
    check: { category: 'own', title: 'Orders wait for payment', volatile: false },
    measured: true,
    findings: [
      {
        status: 'warning',
        database: 'shop',
        object: 'print',
        metric_line: 'print: 40 (warning from 10, critical from 100).',
        remediation: 'Restart the payment worker, see runbook 12.',
      },
    ],
  });
  expect(lineOf(of('OWN_HERE'))).toBe('5 (warning from 10, critical from 100).');
  expect(lineOf(of('OWN_LOST'))).toBe('Not measured: the database does not exist.');
  const own = measures.filter(({ checkId }) => checkId.startsWith('OWN_'));
  expect(
    own.map(({ checkId, metric, database, object, value }) => [checkId, metric, database, object, value]),
  ).toEqual([
    ['OWN_QUEUES', 'queues_count', 'shop', 'print', 40],
    ['OWN_QUEUES', 'queues_count', 'shop', 'mail', 3],
    ['OWN_HERE', 'here_count', 'postgres', null, 5],
  ]);
  expect(cost.bytes).toBeGreaterThan(1_000);
  // A failed own check says so itself: the catalogue's checks were measured.
  expect(lineOf(of('CONN_CHECKS_INCOMPLETE'))).not.toContain('OWN_');
});

test('a statement runs as often as its check says, and at once after a change', async () => {
  const own = ownCheck({
    id: 'HOURLY',
    database: 'shop',
    every: 3_600,
    sql: 'select sum(waiting) as value from orders',
  });
  const first = await measure({ own: [own] });
  const kept = first.samples.filter(({ checkId }) => checkId === 'OWN_HOURLY');
  expect(kept).toHaveLength(1);
  await root.query(`update sales.orders set waiting = 200 where queue = 'mail'`);
  const value = async (of: typeof own, seconds: number) => {
    const before = kept.map(({ checkId, database, rows }) => ({ checkId, database, rows, seconds }));
    const { measures } = await measure({ own: [of], before });
    return measures.find(({ checkId }) => checkId === 'OWN_HOURLY')?.value;
  };
  expect(await value(own, 60)).toBe(43);
  expect(await value(own, 3_595)).toBe(240);
  expect(await value({ ...own, sql: 'select max(waiting) as value from orders' }, 60)).toBe(200);
  expect(await value({ ...own, every: null }, 60)).toBe(240);
});
