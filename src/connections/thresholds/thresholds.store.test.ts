import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { type Change, changeAccount } from '../../activity/record-entry.ts';
import { type Key, runOnce } from '../../monitor/run-fixture.ts';
import { within } from '../../store/read.ts';
import { addSilence } from '../../tickets/silences/add-silence.ts';
import type { ThresholdChanges } from '../connection-thresholds.ts';
import { changeTags } from '../tags/change-tags.ts';
import { changeOverrides } from './change-overrides.ts';
import { changeOwnThresholds } from './change-own-thresholds.ts';
import { listOverrides } from './list-overrides.ts';
import { previewThresholds, type ThresholdScope } from './preview-thresholds.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
  const root = await store.superuser('postgres');
  await root.query(`
    create table faulty (id serial primary key, a int);
    alter sequence faulty_id_seq as bigint maxvalue 1000;
    select setval('faulty_id_seq', 900);
    create sequence "half; drop ""x""" maxvalue 1000;
    grant select, usage on all sequences in schema public to watcher;
    select setval('"half; drop ""x"""', 500);`);
});
afterAll(() => store.stop());

const by =
  (accountId: number, author = 'Ada') =>
  <T>(work: (change: Change) => Promise<T>) =>
    changeAccount(store.writer, accountId, (change) => work({ ...change, author }));
const set = ({ accountId }: Pick<Key, 'accountId'>, changes: ThresholdChanges, tag = '') =>
  changeOverrides(by(accountId), tag, changes);
const preview = ({ accountId }: Key, scope: ThresholdScope, changes: ThresholdChanges) =>
  previewThresholds(within(store.writer), accountId, scope, changes);

const latestFindings = `
  select f ->> 'check_id' as check_id, f ->> 'database' as database, f ->> 'object' as object, f ->> 'status' as status
    from connection c
    join health_check h on h.account_id = c.account_id and h.health_check_id = c.latest_check_id
   cross join lateral jsonb_array_elements(h.findings) f
   where c.account_id = $1 and c.connection_id = $2 and f ->> 'check_id' = any($3)
     and f ->> 'status' in ('info', 'warning', 'critical')`;

/** The faults of the latest run, by check, database and object. */
async function faultsOf({ accountId, connectionId }: Key, checks: string[]): Promise<Map<string, string>> {
  const { rows } = await store.writer.query(latestFindings, [accountId, connectionId, checks]);
  return new Map(
    rows.map(({ check_id, database, object, status }) => [
      JSON.stringify([check_id, database, object]),
      status,
    ]),
  );
}

/** Sets every level of these checks so that it is reached, or not; values of a server at rest don't change that. */
const CHANGES: ThresholdChanges = {
  PG_MAX_CONN_HIGH: { info: 50 }, // appears: 100 connections
  PG_SHARED_BUFFERS_LOW: { warning_bytes: 1e12 },
  PG_CONN_SATURATION: { warning: 0, critical: 0 },
  PG_SEQUENCE_EXHAUSTION: { warning: 0.4, critical: 0.8 }, // one is graver, one appears
};
const BACK: ThresholdChanges = {
  PG_MAX_CONN_HIGH: { info: 1_000 },
  PG_SHARED_BUFFERS_LOW: { warning_bytes: 1 },
  PG_CONN_SATURATION: { warning: 1, critical: 1 },
  PG_SEQUENCE_EXHAUSTION: { warning: 0.6, critical: 0.95 }, // one is milder, one vanishes
};

test('a preview is what the next run finds, when a tag sets thresholds and when it takes them back', async () => {
  const key = await store.watched();
  await changeTags(by(key.accountId), [key.connectionId], { add: ['env:test'] });
  await runOnce(store, key);
  const checks = Object.keys(CHANGES);
  for (const [changes, counts] of [
    [CHANGES, { vanish: 0, graver: 1, milder: 0 }],
    [BACK, { appear: 0, graver: 0, milder: 1 }],
  ] as const) {
    const before = await faultsOf(key, checks);
    const foreseen = await preview(key, { tag: 'env:test' }, changes);
    expect(foreseen).toMatchObject({ connections: 1, unchanged: 0, not_measured: 0, unknown: [], ...counts });
    expect(foreseen.findings.length).toBeGreaterThanOrEqual(4);
    const expected = new Map(before);
    for (const { check_id, database, object, before: was, after } of foreseen.findings) {
      const place = JSON.stringify([check_id, database, object]);
      expect(before.get(place) ?? null).toBe(was);
      if (after === null) expected.delete(place);
      else expected.set(place, after);
    }
    // Reading changes nothing: the next run is as before.
    expect(await faultsOf(key, checks)).toEqual(before);
    expect(await set(key, changes, 'env:test')).toBe(6);
    await runOnce(store, key);
    expect(await faultsOf(key, checks)).toEqual(expected);
    expect(await preview(key, { tag: 'env:test' }, changes)).toMatchObject({ connections: 0, findings: [] });
  }
});

test('a preview judges by levels of the check that are set elsewhere, too', async () => {
  const key = await store.watched();
  await changeTags(by(key.accountId), [key.connectionId], { add: ['env:test'] });
  await set(key, { PG_SEQUENCE_EXHAUSTION: { warning: 0.42, critical: 0.45 } });
  await runOnce(store, key);
  expect([...(await faultsOf(key, ['PG_SEQUENCE_EXHAUSTION'])).values()]).toEqual(['critical', 'critical']);
  const milder = { PG_SEQUENCE_EXHAUSTION: { warning: 0.41 } };
  expect(await preview(key, { tag: 'env:test' }, milder)).toMatchObject({
    connections: 1,
    not_measured: 0,
    appear: 0,
    vanish: 0,
    graver: 0,
    milder: 0,
  });
});

test('a run uses the connection before its tags before its account, from the next run on', async () => {
  const key = await store.watched();
  const saturated = async () => {
    await runOnce(store, key);
    return (await faultsOf(key, ['PG_CONN_SATURATION'])).size > 0;
  };
  const only = (level: number | null) => ({ PG_CONN_SATURATION: { warning: level, critical: level } });
  expect(await saturated()).toBe(false);
  await set(key, only(0));
  expect(await saturated()).toBe(true);
  await set(key, only(1), 'pci');
  expect(await saturated()).toBe(true);
  await changeTags(by(key.accountId), [key.connectionId], { add: ['pci'] });
  expect(await saturated()).toBe(false);
  await changeOwnThresholds(by(key.accountId), [key.connectionId], only(0));
  expect(await saturated()).toBe(true);
  await changeOwnThresholds(by(key.accountId), [key.connectionId], only(null));
  expect(await saturated()).toBe(false);
  await set(key, only(null), 'pci');
  expect(await saturated()).toBe(true);
});

test('a preview says what it can not know, and what holds anyway', async () => {
  const key = await store.watched();
  const never = await store.connection(key.accountId);
  await runOnce(store, key);
  expect(
    await preview(key, { tag: '' }, { PG_DEAD_TUPLES: { minimum_rows: 1 }, MY_BP_MISS: { info: 1 } }),
  ).toMatchObject({
    connections: 2,
    unchanged: 0,
    not_measured: 1,
    findings: [],
    unknown: ['PG_DEAD_TUPLES.minimum_rows'],
  });
  // Only the highest age of sessions without a fault is kept, not whose it is: the watcher's own is none.
  const sequences = { PG_SEQUENCE_EXHAUSTION: { warning: 0.4 } };
  const own = { connectionIds: [key.connectionId] };
  expect(await preview(key, own, sequences)).toMatchObject({
    appear: 1,
    findings: [
      { object: 'public."half; drop ""x"""', before: null, after: 'warning', value: 0.5, is_certain: true },
    ],
  });
  await addSilence(by(key.accountId), key.connectionId, {
    check_id: 'PG_SEQUENCE_EXHAUSTION',
    object: null,
    reason: 'wont_fix',
    note: 'x',
    until: null,
  });
  expect(await preview(key, own, sequences)).toMatchObject({ connections: 1, appear: 0 });
  // The connection's own value holds, whatever the account sets.
  await changeOwnThresholds(by(key.accountId), [key.connectionId, never], {
    PG_CONN_SATURATION: { warning: 1, critical: 1 },
  });
  expect(await preview(key, { tag: '' }, { PG_CONN_SATURATION: { warning: 0 } })).toMatchObject({
    connections: 0,
    unchanged: 2,
    findings: [],
  });
});

test('each change is logged with before and after, by account, tag and connection', async () => {
  const key = await store.watched();
  await set(key, { PG_DEAD_TUPLES: { warning: 0.2, naps: 5 } });
  await set(key, { PG_DEAD_TUPLES: { warning: 0.2, naps: null } });
  expect(await set(key, { PG_DEAD_TUPLES: { warning: 0.2 } })).toBe(0);
  await set(key, { PG_DEAD_TUPLES: { warning: 0 } }, 'env:test');
  await changeOwnThresholds(by(key.accountId), [key.connectionId], { PG_DEAD_TUPLES: { warning: 0.3 } });
  const { rows } = await store.writer.query(
    `select action_type, page_path, properties from activity
      where account_id = $1 and action_type in ('threshold_changed', 'connection_changed') order by id`,
    [key.accountId],
  );
  const entry = (tag: string | null, from: object, to: object) => ({
    action_type: 'threshold_changed',
    page_path: '/thresholds',
    properties: { tag, changed: Object.keys(to), from, to },
  });
  expect(rows).toEqual([
    entry(
      null,
      { 'PG_DEAD_TUPLES.warning': null, 'PG_DEAD_TUPLES.naps': null },
      { 'PG_DEAD_TUPLES.warning': 0.2, 'PG_DEAD_TUPLES.naps': 5 },
    ),
    entry(null, { 'PG_DEAD_TUPLES.naps': 5 }, { 'PG_DEAD_TUPLES.naps': null }),
    entry('env:test', { 'PG_DEAD_TUPLES.warning': null }, { 'PG_DEAD_TUPLES.warning': 0 }),
    expect.objectContaining({
      action_type: 'connection_changed',
      properties: expect.objectContaining({
        changed: ['thresholds'],
        from: { thresholds: {} },
        to: { thresholds: { PG_DEAD_TUPLES: { warning: 0.3 } } },
      }),
    }),
  ]);
  const overrides = await listOverrides(within(store.writer), key.accountId);
  expect(overrides.map(({ tag, name, value, changed_by }) => [tag, name, value, changed_by])).toEqual([
    ['', 'warning', 0.2, 'Ada'],
    ['env:test', 'warning', 0, 'Ada'],
  ]);
  const changes = await store.writer.query(
    `select subject, before, after, source from connection_change where account_id = $1`,
    [key.accountId],
  );
  expect(changes.rows).toEqual([
    { subject: 'PG_DEAD_TUPLES warning', before: '0.1 (default)', after: '0.3', source: 'Ada' },
  ]);
});

test('a wrong change gets one sentence and changes nothing', async () => {
  const [key, other] = [await store.watched(), await store.watched()];
  const mine = [key.connectionId];
  const maria = await store.connection(key.accountId, { engine: 'mariadb' });
  const own = (ids: number[], changes: ThresholdChanges) =>
    changeOwnThresholds(by(key.accountId), ids, changes);
  await expect(set(key, {})).rejects.toThrow('Name at least one threshold.');
  await expect(set(key, { PG_NONE: { warning: 1 } })).rejects.toThrow('There is no check PG_NONE');
  await expect(set(key, { PG_DEAD_TUPLES: { toString: 1 } as never })).rejects.toThrow(
    'PG_DEAD_TUPLES has no threshold toString: its thresholds are minimum_rows, warning, naps.',
  );
  for (const value of [-1, Number.NaN, 2e15])
    await expect(set(key, { PG_DEAD_TUPLES: { warning: value } })).rejects.toThrow(
      'A threshold is a number from 0 to 1e15.',
    );
  const change = { PG_DEAD_TUPLES: { warning: 1 } };
  await expect(own([...mine, other.connectionId], change)).rejects.toThrow('There is no connection');
  await expect(own([...mine, maria], change)).rejects.toThrow(
    'PG_DEAD_TUPLES is not a check for MySQL or MariaDB: leave out its threshold.',
  );
  await expect(preview(key, { connectionIds: [other.connectionId] }, change)).rejects.toThrow(
    'There is no connection',
  );
  const { rows } = await store.writer.query(
    'select from connection where thresholds <> $1 and account_id = $2',
    ['{}', key.accountId],
  );
  expect(rows).toEqual([]);
  expect(await listOverrides(within(store.writer), key.accountId)).toEqual([]);
  // Another account's thresholds are none of its own.
  await set(other, { PG_CONN_SATURATION: { warning: 0 } });
  await runOnce(store, key);
  expect((await faultsOf(key, ['PG_CONN_SATURATION'])).size).toBe(0);
});
