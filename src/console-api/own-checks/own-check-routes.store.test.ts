import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { type Owner, openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { NewOwnCheckBody, OwnChecks, ShownOwnCheck, TriedOwnCheck } from './own-check-schemas.ts';

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

const body = (given: Partial<NewOwnCheckBody> = {}): NewOwnCheckBody => ({
  id: 'ORDERS_STUCK',
  title: 'Orders wait for payment',
  engine: 'postgres',
  database: null,
  sql: 'select 12 as value',
  unit: 'count',
  operator: '>=',
  warning: 10,
  critical: 100,
  remediation: 'Restart the payment worker.',
  every: null,
  timeout: 5,
  tags: [],
  ...given,
});
const add = (given: Partial<NewOwnCheckBody> = {}, by = owner) =>
  by.send<ShownOwnCheck>('POST', '/own-checks', body(given));
const change = (seen: string, given: Partial<NewOwnCheckBody> = {}, by = owner) => {
  const { id, ...definition } = body(given);
  return by.send<ShownOwnCheck>('PATCH', `/own-checks/${id}`, { ...definition, seen });
};
/** A connection of the owner's account, to the store's own server. */
async function watched(): Promise<number> {
  const { accountId } = owner;
  const connectionId = await store.connection(accountId);
  await store.set({ accountId, connectionId }, {});
  return connectionId;
}
/** The status, the parameter and the sentence of an error. */
const errorOf = ([status, answer]: [number, unknown]) => {
  const { parameter = null, message } = (answer as { error: { parameter?: string; message: string } }).error;
  return [status, parameter, message];
};
const entries = async () =>
  (
    await store.writer.query<{ action_type: string; page_path: string; properties: Record<string, unknown> }>(
      `select action_type, page_path, properties from activity
        where account_id = $1 and action_type like 'own%' order by id`,
      [owner.accountId],
    )
  ).rows;

test('an own check is added, listed, changed and removed, and the log says by whom', async () => {
  const connectionId = await watched();
  const [status, added] = await add({ title: ' Orders wait ', tags: ['Env:Production '] });
  expect([status, added]).toEqual([
    201,
    {
      ...body(),
      title: 'Orders wait',
      tags: ['env:production'],
      connections: 0,
      changed_at: expect.any(String),
      changed_by: expect.any(String),
    },
  ]);
  await owner.send('POST', '/connections/tags', { connections: [connectionId], add: ['env:production'] });
  const list = await owner.read<OwnChecks>('/own-checks');
  expect(list).toEqual({ items: [{ ...added, connections: 1 }], limits: { most: 50, timeout: 30 } });

  expect(errorOf(await add())).toEqual([
    409,
    'id',
    'The account has an own check of this id: change it, or choose another id.',
  ]);
  const [, changed] = await change(added.changed_at, { warning: 20 });
  expect(changed).toMatchObject({ id: 'ORDERS_STUCK', warning: 20, tags: [], connections: 1 });
  expect(errorOf(await change(added.changed_at, { warning: 30 }))).toEqual([
    409,
    null,
    `${changed.changed_by} changed it after you opened it. Check the current values, then change it again.`,
  ]);
  expect(await owner.send('DELETE', '/own-checks/ORDERS_STUCK')).toEqual([204, null]);
  expect((await owner.read<OwnChecks>('/own-checks')).items).toEqual([]);
  expect((await owner.send('DELETE', '/own-checks/ORDERS_STUCK'))[0]).toBe(404);
  expect((await change(added.changed_at))[0]).toBe(404);
  const logged = await entries();
  expect(logged.map(({ action_type }) => action_type)).toEqual([
    'own_check_added',
    'own_check_changed',
    'own_check_removed',
  ]);
  for (const { page_path, properties } of logged)
    expect([page_path, properties['actor_member_id']]).toEqual(['/checks', owner.memberId]);
});

test.each<[Partial<NewOwnCheckBody>, string, RegExp]>([
  [{ id: 'orders' }, 'id', /capital letters/],
  [{ title: '' }, 'title', /1 to 100/],
  [{ sql: 'delete from orders' }, 'sql', /must be a SELECT/],
  [{ sql: 'select 1 as value; drop table orders' }, 'sql', /./],
  [{ sql: 'select 1\0' }, 'sql', /one SELECT/],
  [{ sql: '\ud800' }, 'sql', /one SELECT/],
  [{ sql: `select ${'1+'.repeat(6_000)}1 as value` }, 'sql', /10,000/],
  [{ warning: null, critical: null }, 'warning', /Set warning, critical, or both/],
  [{ critical: 1 }, 'critical', /before the warning/],
  [{ unit: 'apples' as 'count' }, 'unit', /Choose the unit/],
  [{ engine: 'oracle' as 'postgres' }, 'engine', /Choose the engine/],
  [{ every: 59 }, 'every', /1m to 7d/],
  [{ timeout: 31 }, 'timeout', /1s to 30s/],
  [{ tags: ['a b'] }, 'tags', /tag/],
  [{ database: 'a\nb' }, 'database', /database/],
  [{ remediation: '\u0007' }, 'remediation', /remediation/],
])('it refuses %o in one sentence at its field', async (given, parameter, sentence) => {
  const [status, at, message] = errorOf(await add(given));
  expect([status, at]).toEqual([400, parameter]);
  expect(message).toMatch(sentence);
  expect(message).toMatch(/^[A-Z].*\.$/);
});

test('owner and administrator write and try, the others read', async () => {
  const connectionId = await watched();
  for (const role of ['admin', 'operator', 'auditor', 'viewer']) {
    const member = await testConsole.member(owner.accountId, `The ${role}`, role);
    expect((await member.read<OwnChecks>('/own-checks')).items).toEqual([]);
    const allowed = role === 'admin';
    const tried = { ...trial(connectionId), sql: 'select 1 as value' };
    expect((await member.send('POST', '/own-checks/try', tried))[0]).toBe(allowed ? 200 : 403);
    expect((await add({ id: 'BY_ROLE' }, member))[0]).toBe(allowed ? 201 : 403);
    expect((await member.send('DELETE', '/own-checks/BY_ROLE'))[0]).toBe(allowed ? 204 : 403);
  }
});

const trial = (connection_id: number) => {
  const { sql, database, unit, operator, warning, critical, timeout } = body();
  return { connection_id, sql, database, unit, operator, warning, critical, timeout };
};

test('a trial shows what the statement gives, and stores only that it ran', async () => {
  const connectionId = await watched();
  const tried = (given: object) =>
    owner.send<TriedOwnCheck>('POST', '/own-checks/try', { ...trial(connectionId), ...given });
  const rows = `select name as object, value from (values ('mail', 150), ('print', 3)) as q (name, value)`;
  expect(await tried({ sql: ` ${rows} ` })).toEqual([
    200,
    {
      status: 'critical',
      metric_line: 'mail: 150 (warning from 10, critical from 100).',
      values: [
        { object: 'mail', value: 150 },
        { object: 'print', value: 3 },
      ],
      faults: 1,
      milliseconds: expect.any(Number),
    },
  ]);
  expect((await tried({ sql: 'drop table orders' }))[1]).toMatchObject({
    status: 'error',
    metric_line: 'Not measured: it must be a SELECT: it begins with DROP.',
  });
  expect((await tried({ sql: 'select 1 from nowhere' }))[1].status).toBe('error');
  expect((await tried({ sql: 'select 1\0' }))[0]).toBe(400);
  expect((await entries()).at(-2)).toMatchObject({
    action_type: 'own_check_tried',
    properties: {
      connection_id: connectionId,
      name: 'test',
      actor_member_id: owner.memberId,
    },
  });
  const { rows: tickets } = await store.writer.query('select from ticket where account_id = $1', [
    owner.accountId,
  ]);
  expect(tickets).toEqual([]);
});

test('another account sees and reaches none of it', async () => {
  const connectionId = await watched();
  const [, added] = await add({ id: 'MINE' });
  expect((await other.read<OwnChecks>('/own-checks')).items).toEqual([]);
  expect((await change(added.changed_at, { id: 'MINE' }, other))[0]).toBe(404);
  expect((await other.send('DELETE', '/own-checks/MINE'))[0]).toBe(404);
  expect((await other.send('POST', '/own-checks/try', trial(connectionId)))[0]).toBe(404);
  expect((await add({ id: 'MINE' }, other))[0]).toBe(201);
  expect((await owner.read<OwnChecks>('/own-checks')).items).toHaveLength(1);
});
