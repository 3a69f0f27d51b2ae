import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { askEndpoint } from '../../api/endpoints/ask-fixture.ts';
import { latestCheck } from '../../api/endpoints/latest-check.ts';
import { latestMeasures } from '../../api/endpoints/measures/latest-measures.ts';
import { measureHistory } from '../../api/endpoints/measures/measure-history.ts';
import type { OwnCheck } from '../../checks/own/own-check.ts';
import { ownCheck } from '../../checks/own/own-check-fixture.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { tryOwnCheck } from '../../monitor/own-checks/try-own-check.ts';
import { runHealthCheck } from '../../monitor/run.ts';
import { addRule } from '../../notifications/alerts/add-rule.ts';
import { rule } from '../../notifications/alerts/alerts-fixture.ts';
import { openPool } from '../../store/connect.ts';
import { within } from '../../store/read.ts';
import { addSilence } from '../../tickets/silences/add-silence.ts';
import { changeTags } from '../tags/change-tags.ts';
import { changeOverrides } from '../thresholds/change-overrides.ts';
import { listOwnChecks } from './list-own-checks.ts';
import { removeOwnCheck } from './remove-own-check.ts';
import { setOwnCheck } from './set-own-check.ts';

let store: TestStore;
let reader: ReturnType<typeof openPool>;
beforeAll(async () => {
  store = await startTestStore();
  reader = openPool(store.address, 'reader', { max: 1, pipeline: true });
  const root = await store.superuser();
  await root.query(
    'create table public.queue (name text, waiting int); grant select on public.queue to public',
  );
  await root.query(`insert into public.queue values ('mail', 150), ('print', 3)`);
});
afterAll(async () => {
  await reader.end();
  await store.stop();
});

const SQL = 'select name as object, waiting as value from public.queue';

async function account() {
  const { accountId, connectionId } = await store.watched();
  const by = <T>(work: Parameters<typeof changeAccount<T>>[2]) =>
    changeAccount(store.writer, accountId, work);
  const rows = async (sql: string) => (await store.writer.query(sql, [accountId])).rows;
  return {
    key: { accountId, connectionId },
    by,
    set: (given: Partial<OwnCheck> = {}) =>
      by((change) => setOwnCheck(change, ownCheck({ sql: SQL, ...given }))),
    remove: (id: string) => by((change) => removeOwnCheck(change, id)),
    run: async () => {
      const stored = await runHealthCheck(store.deps, { accountId, connectionId });
      return stored?.checks.filter(({ check_id }) => check_id.startsWith('OWN_')) ?? [];
    },
    tickets: () =>
      rows(
        `select check_id, object, severity, status from ticket where account_id = $1 and check_id like 'OWN%' order by 1`,
      ),
    entries: async () =>
      await rows(
        `select action_type, properties from activity where account_id = $1 and action_type like 'own%' order by id`,
      ),
    changes: () =>
      rows(
        `select subject, before, after, source from connection_change where account_id = $1 and kind = 'check' order by change_id`,
      ),
  };
}

test('an own check has findings and tickets until it is removed', async () => {
  const { set, remove, run, tickets } = await account();
  await set();
  expect(await run()).toMatchObject([
    {
      check_id: 'OWN_ORDERS_STUCK',
      category: 'own',
      status: 'critical',
      metric_line: 'mail: 150 (warning from 10, critical from 100).',
      remediation: 'Restart the payment worker, see runbook 12.',
    },
  ]);
  const ticket = { check_id: 'OWN_ORDERS_STUCK', object: 'mail', severity: 'critical' };
  expect(await tickets()).toEqual([{ ...ticket, status: 'open' }]);
  await remove('ORDERS_STUCK');
  expect(await run()).toMatchObject([{ status: 'ok' }]);
  expect(await tickets()).toEqual([{ ...ticket, status: 'resolved' }]);
  expect(await run()).toEqual([]);
});

test('it runs on the connections of its engine that have all of its tags', async () => {
  const { set, run, by, key, tickets } = await account();
  await set({ tags: ['shop', 'env:production'] });
  await set({ id: 'OTHER', engine: 'mysql' });
  expect(await run()).toEqual([]);
  await changeTags(by, [key.connectionId], { add: ['shop', 'env:production', 'more'] });
  expect(await run()).toMatchObject([{ check_id: 'OWN_ORDERS_STUCK', status: 'critical' }]);
  await changeTags(by, [key.connectionId], { remove: ['shop'] });
  expect(await run()).toMatchObject([{ status: 'ok' }]);
  expect(await tickets()).toMatchObject([{ status: 'resolved' }]);
});

test('a run that fails leaves its tickets as they are', async () => {
  const { set, run, tickets } = await account();
  await set();
  await run();
  await set({ sql: 'select nothing as object, 1 as value from public.queue' });
  expect(await run()).toMatchObject([{ status: 'error' }]);
  expect(await tickets()).toMatchObject([{ status: 'open' }]);
});

test('thresholds of the account and its tags replace its levels', async () => {
  const { set, run, by } = await account();
  await set();
  await changeOverrides(by, '', { OWN_ORDERS_STUCK: { critical: 200 } });
  expect(await run()).toMatchObject([{ status: 'warning' }]);
  await changeOverrides(by, '', { OWN_ORDERS_STUCK: { critical: null, warning: 2 } });
  expect(await run()).toMatchObject([{ status: 'critical' }, { status: 'warning' }]);
  await expect(changeOverrides(by, '', { OWN_ORDERS_STUCK: { most: 2 } })).rejects.toThrow(
    'no threshold most',
  );
});

test('alerts, charts, the API and silences take it as they take every check', async () => {
  const { set, run, by, key, tickets } = await account();
  await set();
  const grows = {
    name: 'The queue grows',
    metric: 'measure',
    check_id: 'OWN_ORDERS_STUCK',
    measure: 'orders_stuck_count',
    operator: '>=',
    threshold: 100,
  } as const;
  await addRule(by, rule(grows));
  await run();
  const ask = (endpoint: Endpoint, asked = '') =>
    askEndpoint(reader, endpoint, key.accountId, { id: key.connectionId, asked });
  const { body: latest } = await ask(latestCheck);
  expect(latest.data.checks.map(({ check_id }: { check_id: string }) => check_id)).toContain(
    'OWN_ORDERS_STUCK',
  );
  const { body: history } = await ask(measureHistory, 'metric=orders_stuck_count&object=mail');
  expect(history.data.map(({ value }: { value: number | null }) => value)).toContain(150);
  const { body: measures } = await ask(latestMeasures);
  expect(measures.data).toContainEqual(
    expect.objectContaining({ metric: 'orders_stuck_count', object: 'mail', warning: 10, critical: 100 }),
  );
  const { rows: alerts } = await store.writer.query(
    `select state from alert join alert_rule using (account_id, rule_id) where account_id = $1 and name = 'The queue grows'`,
    [key.accountId],
  );
  expect(alerts).toEqual([{ state: 'open' }]);
  await addSilence(by, key.connectionId, {
    check_id: 'OWN_ORDERS_STUCK',
    object: 'mail',
    reason: 'accepted_risk',
    note: 'A campaign.',
    until: null,
  });
  expect(await tickets()).toMatchObject([{ status: 'resolved' }]);
  expect(await run()).toMatchObject([{ status: 'skipped' }]);
});

test('the log and the changes of connections tell who changed what', async () => {
  const { set, remove, by, entries, changes, key } = await account();
  await set();
  await set();
  await set({ warning: 20 });
  await remove('ORDERS_STUCK');
  const named = { check_id: 'OWN_ORDERS_STUCK', title: 'Orders wait for payment' };
  expect(await entries()).toEqual([
    {
      action_type: 'own_check_added',
      properties: expect.objectContaining({ ...named, to: expect.objectContaining({ sql: SQL }) }),
    },
    {
      action_type: 'own_check_changed',
      properties: { ...named, changed: ['warning'], from: { warning: 10 }, to: { warning: 20 } },
    },
    { action_type: 'own_check_removed', properties: named },
  ]);
  const change = { subject: 'OWN_ORDERS_STUCK', source: 'command line' };
  expect(await changes()).toEqual([
    { ...change, before: null, after: `${SQL} >= 10, 100` },
    { ...change, before: `${SQL} >= 10, 100`, after: `${SQL} >= 20, 100` },
    { ...change, before: `${SQL} >= 20, 100`, after: null },
  ]);
  await expect(remove('ORDERS_STUCK')).rejects.toThrow('no own check of this id');
  await by(async (change) => {
    for (let at = 0; at < 50; at++) await setOwnCheck(change, ownCheck({ id: `T${at}` }));
  });
  await expect(set({ id: 'TOO_MANY' })).rejects.toThrow('at most 50 own checks');
  expect(await listOwnChecks(within(store.writer), key.accountId)).toHaveLength(50);
});

test('another account sees none of it, and a console of another account neither', async () => {
  const [one, other] = [await account(), await account()];
  await one.set();
  expect(await other.run()).toEqual([]);
  await expect(other.remove('ORDERS_STUCK')).rejects.toThrow('no own check of this id');
});

test('a trial stores nothing but its entry', async () => {
  const { key, entries, tickets } = await account();
  const tried = {
    sql: SQL,
    database: null,
    unit: 'count',
    operator: '>=',
    warning: 10,
    critical: null,
    timeout: 5,
  } as const;
  const trial = await tryOwnCheck(store.deps, key, tried);
  expect(trial).toMatchObject({
    status: 'warning',
    metric_line: 'mail: 150 (warning from 10).',
    values: [
      { object: 'mail', value: 150 },
      { object: 'print', value: 3 },
    ],
    faults: 1,
  });
  expect(await tryOwnCheck(store.deps, key, { ...tried, sql: 'drop table queue' })).toMatchObject({
    status: 'error',
    metric_line: 'Not measured: it must be a SELECT: it begins with DROP.',
    values: [],
    faults: 0,
  });
  expect((await entries()).map(({ properties }) => properties)).toEqual([
    { connection_id: key.connectionId, name: 'test', sql: SQL },
    { connection_id: key.connectionId, name: 'test', sql: 'drop table queue' },
  ]);
  const lost = await store.watched({ host: '/nowhere' });
  expect(await tryOwnCheck(store.deps, lost, tried)).toMatchObject({
    status: 'error',
    values: [],
    faults: 0,
  });
  expect(await tickets()).toEqual([]);
  await expect(tryOwnCheck(store.deps, { ...key, connectionId: 999 }, tried)).rejects.toThrow(
    'no connection 999',
  );
});
