import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { type Owner, openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { AccountSilences } from './silence-list.ts';
import type { OwnThresholds, ThresholdList, ThresholdPreview } from './threshold-schemas.ts';

let store: TestStore;
let testConsole: TestConsole;
let owner: Owner;
let other: Owner;

beforeAll(async () => {
  store = await startTestStore();
  testConsole = await openTestConsole(store);
  [owner, other] = [await testConsole.owner(), await testConsole.owner()];
});
afterAll(async () => {
  await testConsole.close();
  await store.stop();
});

const warning = (value: number | null) => ({ PG_DEAD_TUPLES: { warning: value } });
/** The code and the parameter of an error. */
const errorOf = (body: unknown) => {
  const { code, parameter = null } = (body as { error: { code: string; parameter?: string } }).error;
  return [code, parameter];
};
const send = (body: object, by = owner) => by.send<unknown>('POST', '/thresholds', body);

test('the page lists every check with its units and defaults, and who set what', async () => {
  const connection = await store.connection(owner.accountId, { name: 'shop' });
  expect(await send({ thresholds: warning(0.2) })).toEqual([200, { changed: 1 }]);
  expect(await send({ tag: ' ENV:Test', thresholds: warning(0.25) })).toEqual([200, { changed: 1 }]);
  expect(await send({ connections: [connection], thresholds: warning(0.3) })).toEqual([200, { changed: 1 }]);
  const list = await owner.read<ThresholdList>('/thresholds');
  expect(list.checks.length).toBeGreaterThan(60);
  expect(list.checks.find(({ check_id }) => check_id === 'PG_DEAD_TUPLES')).toEqual({
    check_id: 'PG_DEAD_TUPLES',
    title: 'Table with many dead rows',
    category: 'vacuum',
    engine: 'postgres',
    thresholds: [
      { name: 'minimum_rows', unit: 'count', default: 10_000, stricter: 'lower', level: null },
      expect.objectContaining({ name: 'warning', unit: 'ratio', default: 0.1 }),
      { name: 'naps', unit: 'count', default: 10, stricter: 'lower', level: null },
    ],
  });
  const set = { check_id: 'PG_DEAD_TUPLES', name: 'warning', changed_at: expect.any(String) };
  expect(list.overrides).toEqual([
    { ...set, tag: '', value: 0.2, changed_by: expect.any(String) },
    { ...set, tag: 'env:test', value: 0.25, changed_by: expect.any(String) },
  ]);
  expect([list.own, list.connections]).toEqual([[{ check_id: 'PG_DEAD_TUPLES', connections: 1 }], 1]);
  const own = await owner.read<OwnThresholds>('/thresholds/connections?check=PG_DEAD_TUPLES');
  const by = { changed_at: expect.any(String), changed_by: list.overrides[0]?.changed_by };
  expect(own).toEqual({
    total: 1,
    data: [{ id: connection, name: 'shop', thresholds: [{ name: 'warning', value: 0.3, ...by }] }],
  });
  expect(await owner.readText('/thresholds/export')).toContain('    tag_thresholds:\n      "env:test":\n');
  // Another account sees none of it.
  expect(await other.read<ThresholdList>('/thresholds')).toMatchObject({
    overrides: [],
    own: [],
    connections: 0,
  });
  expect(await other.readText('/thresholds/export')).not.toContain('PG_');
});

test("another account's connection does not exist, and wrong values get one sentence", async () => {
  const theirs = await store.connection(other.accountId);
  const mine = await store.connection(owner.accountId);
  const both = { connections: [mine, theirs], thresholds: warning(1) };
  for (const path of ['/thresholds', '/thresholds/preview'])
    expect(errorOf((await owner.send('POST', path, both))[1])).toEqual(['not_found', null]);
  const wrong = async (body: object) => errorOf((await send(body))[1]);
  expect(await wrong({ thresholds: {} })).toEqual(['invalid_parameter', 'thresholds']);
  expect((await wrong({ thresholds: { PG_DEAD_TUPLES: { warning: '1' } } }))[0]).toBe('invalid_parameter');
  expect(await wrong({ thresholds: { PG_NONE: { warning: 1 } } })).toEqual(['invalid_parameter', 'check_id']);
  expect(await wrong({ tag: 'a b', thresholds: warning(1) })).toEqual(['invalid_parameter', 'tag']);
  expect(await wrong({ tag: '', thresholds: warning(1) })).toEqual(['invalid_parameter', 'tag']);
  expect(await wrong({ tag: 'a', connections: [mine], thresholds: warning(1) })).toEqual([
    'invalid_parameter',
    'tag',
  ]);
  expect((await owner.read<OwnThresholds>('/thresholds/connections?check=PG_DEAD_TUPLES')).total).toBe(1);
});

test('a member without connections:write sees and previews, and changes nothing', async () => {
  const viewer = await testConsole.member(owner.accountId, 'Vera', 'viewer');
  const [status, preview] = await viewer.send<ThresholdPreview>('POST', '/thresholds/preview', {
    thresholds: warning(0.01),
  });
  expect([status, preview.findings]).toEqual([200, []]);
  expect((await send({ thresholds: warning(0.01) }, viewer))[0]).toBe(403);
  expect((await viewer.send('POST', '/silences/end', { ids: [1] }))[0]).toBe(403);
  expect((await viewer.read<ThresholdList>('/thresholds')).overrides[0]?.value).toBe(0.2);
});

test('of three previews at once, one is refused', async () => {
  await store.connection(owner.accountId);
  // The previews wait for it.
  const lock = await store.superuser('store');
  await lock.query('begin; lock table threshold in access exclusive mode');
  const sent = [1, 2, 3].map(() => owner.send('POST', '/thresholds/preview', { thresholds: warning(0.01) }));
  try {
    const [status, body] = await Promise.race(sent);
    expect([status, errorOf(body)]).toEqual([429, ['too_many_attempts', null]]);
  } finally {
    await lock.query('rollback');
  }
  expect((await Promise.all(sent)).map(([status]) => status).toSorted()).toEqual([200, 200, 429]);
  // The slots are free again.
  expect((await owner.send('POST', '/thresholds/preview', { thresholds: warning(0.01) }))[0]).toBe(200);
});

test('silences of all connections are listed with author and reason, and ended together', async () => {
  const connection = await store.connection(owner.accountId, { name: '<b>"hostile' });
  const theirs = await store.connection(other.accountId);
  const silence = async (by: Owner, id: number, check_id: string) => {
    const [status, { id: silenceId }] = await by.send<{ id: number }>('POST', `/connections/${id}/silences`, {
      check_id,
      reason: 'wont_fix',
      note: 'as planned',
    });
    expect(status).toBe(201);
    return silenceId;
  };
  const [first, second] = [
    await silence(owner, connection, 'PG_FSYNC_OFF'),
    await silence(owner, connection, 'PG_NO_TLS'),
  ];
  const foreign = await silence(other, theirs, 'PG_NO_TLS');
  const { data, total } = await owner.read<AccountSilences>('/silences');
  expect(total).toBe(2);
  expect(data[0]).toEqual({
    id: second,
    connection_id: connection,
    connection_name: '<b>"hostile',
    check_id: 'PG_NO_TLS',
    object: null,
    reason: 'wont_fix',
    note: 'as planned',
    until: null,
    title: expect.any(String),
    created_at: expect.any(String),
    created_by: expect.any(String),
  });
  const end = (...ids: number[]) => owner.send('POST', '/silences/end', { ids });
  expect(errorOf((await end(first, foreign))[1])).toEqual(['not_found', null]);
  expect((await owner.read<AccountSilences>('/silences')).total).toBe(2);
  expect(await end(first, second)).toEqual([200, { ended: [first, second] }]);
  expect(await end(first, second)).toEqual([200, { ended: [] }]);
  expect(await owner.read<AccountSilences>('/silences')).toEqual({ data: [], total: 0 });
  expect((await other.read<AccountSilences>('/silences')).total).toBe(1);
  const { rows } = await store.writer.query(
    `select count(*)::int as ended from activity where account_id = $1 and action_type = 'silence_ended'`,
    [owner.accountId],
  );
  expect(rows).toEqual([{ ended: 2 }]);
});
