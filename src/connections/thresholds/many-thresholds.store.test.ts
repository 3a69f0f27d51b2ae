import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { type Change, changeAccount } from '../../activity/record-entry.ts';
import { catalogues } from '../../checks/catalogue.ts';
import { type Read, within } from '../../store/read.ts';
import type { ThresholdChanges } from '../connection-thresholds.ts';
import { changeOverrides } from './change-overrides.ts';
import { changeOwnThresholds } from './change-own-thresholds.ts';
import { defaultsOf } from './effective-thresholds.ts';
import { listThresholdConnections } from './list-overrides.ts';
import { previewThresholds } from './preview-thresholds.ts';
import { exportThresholds } from './threshold-file.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

const by =
  (accountId: number) =>
  <T>(work: (change: Change) => Promise<T>) =>
    changeAccount(store.writer, accountId, work);
const set = (accountId: number, changes: ThresholdChanges, tag = '') =>
  changeOverrides(by(accountId), tag, changes);

test('an account and its tags set at most 2,000 thresholds', async () => {
  const accountId = await store.account();
  await store.writer.query(
    `insert into threshold select $1, 't' || n, 'PG_DEAD_TUPLES', 'warning', 1, now(), 'Ada' from generate_series(1, 1999) n`,
    [accountId],
  );
  await set(accountId, { PG_DEAD_TUPLES: { warning: 0.3 } });
  await expect(set(accountId, { PG_DEAD_TUPLES: { naps: 1 } })).rejects.toThrow(
    'An account and its tags set at most 2000 thresholds: remove some first.',
  );
  await set(accountId, { PG_DEAD_TUPLES: { naps: 1, warning: null } });
});

test('10,000 connections: a list takes one statement, a preview five that read 1,000 runs, and a change of 1,000 is one', async () => {
  const accountId = await store.account();
  await store.writer.query(
    `insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, created_at, thresholds)
     select $1, 'c' || n, 'postgres', 'direct', 'h', 5432, 'd', 'u', 'disable', now(),
            case when n % 2 = 0 then '{"PG_DEAD_TUPLES": {"warning": 0.5}}'::jsonb else '{}' end
       from generate_series(1, 10000) n`,
    [accountId],
  );
  await store.writer.query(
    `with run as (
       insert into health_check (account_id, connection_id, created_at, score, summary_text, findings)
       select account_id, connection_id, now(), 90, 's',
              (select jsonb_agg(jsonb_build_object('check_id', case when n = 1 then 'PG_DEAD_TUPLES' else 'PG_' || n end, 'title', 'T',
                        'severity', 'warning', 'status', 'warning', 'metric_line', repeat('m', 150), 'remediation', repeat('r', 100),
                        'database', 'd', 'object', 'public.t',
                        'measured', '{"metric": "dead_rows_ratio", "value": 0.2, "operator": ">=", "threshold": 0.1}'::jsonb))
                 from generate_series(1, 60) n)
         from connection where account_id = $1
       returning account_id, connection_id, health_check_id)
     update connection c set latest_check_id = run.health_check_id from run
      where c.account_id = run.account_id and c.connection_id = run.connection_id`,
    [accountId],
  );
  const { rows } = await store.writer.query<{ id: number }>(
    'select connection_id as id from connection where account_id = $1 order by 1 limit 1000',
    [accountId],
  );
  const ids = rows.map(({ id }) => id);
  const change = { PG_DEAD_TUPLES: { warning: 0.3 } };
  expect(await changeOwnThresholds(by(accountId), ids, change)).toBe(1_000);
  const asked: string[] = [];
  const counted: Read = (statement, values) => {
    asked.push(statement);
    return within(store.writer)(statement, values);
  };
  expect(await listThresholdConnections(counted, accountId)).toHaveLength(10_000);
  expect(asked.splice(0)).toHaveLength(1);
  const started = performance.now();
  const found = await previewThresholds(counted, accountId, { tag: '' }, change);
  expect(asked).toHaveLength(5);
  // 0.8 s while other work used both cores.
  expect(performance.now() - started).toBeLessThan(30_000);
  expect(found).toMatchObject({ connections: 4_500, unchanged: 5_500, looked_at: 1_000, vanish: 1_000 });
  expect(found.findings).toHaveLength(200);
  // The more checks are named, the fewer connections are looked at.
  const everyCheck = Object.fromEntries(
    catalogues.postgres.checks
      .map(({ id }): [string, string | undefined] => [id, Object.keys(defaultsOf(id))[0]])
      .flatMap(([id, name]) => (name === undefined ? [] : [[id, { [name]: 1e9 }]])),
  );
  const named = Object.keys(everyCheck).length;
  expect(named).toBeGreaterThan(30);
  expect(await previewThresholds(counted, accountId, { tag: '' }, everyCheck)).toMatchObject({
    connections: 10_000,
    looked_at: Math.ceil(1_000 / named),
  });
});

test('the file that is exported names what hostile names are, on one line each', async () => {
  const accountId = await store.account();
  const name = 'x"\n    plan: enterprise\u2028# \\';
  await store.writer.query('update account set name = $2 where account_id = $1', [accountId, name]);
  const id = await store.connection(accountId, { name: '\n- evil: [' });
  await changeOwnThresholds(by(accountId), [id], { PG_DEAD_TUPLES: { warning: 0.25 } });
  await set(accountId, { PG_DEAD_TUPLES: { warning: 1e-7, minimum_rows: 1e15 } }, 'team:é');
  const text = await exportThresholds(within(store.writer), accountId);
  expect(text.split('\n').filter((line) => line.startsWith('#'))).toHaveLength(6);
  expect(parse(text)).toEqual({
    accounts: [
      {
        name,
        plan: expect.any(String),
        thresholds: {},
        tag_thresholds: { 'team:é': { PG_DEAD_TUPLES: { warning: 1e-7, minimum_rows: 1e15 } } },
      },
    ],
  });
});
