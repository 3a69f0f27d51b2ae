import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { hashSource, type LoadSource } from '../../runs/load/session-load.ts';
import { storeLoad } from '../../runs/load/store-load.ts';
import { openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { ConnectionLoad } from './load-schemas.ts';

let store: TestStore;
let testConsole: TestConsole;
beforeAll(async () => {
  store = await startTestStore();
  testConsole = await openTestConsole(store);
});
afterAll(async () => {
  await testConsole.close();
  await store.stop();
});

const at = (minute: number) => new Date(Date.UTC(2026, 10, 20, 10, minute));

const source = (more: Partial<LoadSource>): LoadSource => ({
  state: 'active',
  wait: '',
  event: '',
  query: '1',
  role: 'app',
  application: '',
  database: 'shop',
  ...more,
});

async function owner() {
  const signedIn = await testConsole.owner();
  const connectionId = await store.connection(signedIn.accountId);
  const key = { accountId: signedIn.accountId, connectionId };
  const add = (minute: number, active: number, sources: readonly [LoadSource, number][]) =>
    storeLoad(
      store.writer,
      key,
      {
        at: at(minute),
        active,
        idle_in_transaction: 0,
        blocked_sessions: 0,
        blocked_seconds: 0,
        end_blocked_sessions: 0,
        end_blocked_seconds: 0,
        commits: null,
        rollbacks: null,
        replica_lag: null,
        sources: sources.map(([one, sessions]) => ({ id: hashSource(one), source: one, sessions })),
      },
      new Set(),
    );
  return { ...signedIn, add, path: `/connections/${connectionId}/load` };
}

test('the load over time by what sessions waited for, who they were, and the rest', async () => {
  const { add, path, read, refused } = await owner();
  const locked = source({ wait: 'Lock', role: 'bob' });
  await add(0, 6, [
    [source({}), 3],
    [locked, 1],
  ]);
  await add(1, 2, [[locked, 2]]);
  await add(20, 1, [[source({ state: 'idle in transaction', wait: 'Client' }), 1]]);
  const range = `from=${at(0).toISOString()}&to=${at(30).toISOString()}`;
  const [first, later] = [at(0).getTime() / 1_000, at(20).getTime() / 1_000];
  // Older than a day: a point is five minutes.
  expect(await read<ConnectionLoad>(`${path}?${range}`)).toEqual({
    step: 300,
    at: [first, later],
    parts: [
      { name: 'Lock', sessions: [1.5, 0] },
      { name: 'running', sessions: [1.5, 0] },
      { name: 'idle in transaction', sessions: [0, 1] },
      { name: null, sessions: [1, 0] },
    ],
    top: [
      { state: 'active', names: ['', ''], sessions: 1 },
      { state: 'active', names: ['Lock', ''], sessions: 1 },
      { state: 'idle in transaction', names: ['Client', ''], sessions: expect.closeTo(1 / 3) },
      { state: null, names: [], sessions: expect.closeTo(2 / 3) },
    ],
  });
  const byRole = await read<ConnectionLoad>(`${path}?by=role&${range}`);
  expect(byRole.parts.map(({ name }) => name)).toEqual(['app', 'bob', null]);
  const ofOther = await read<ConnectionLoad>(`${path}?query=2&by=role&${range}`);
  expect(ofOther).toMatchObject({ at: [first, later], parts: [], top: [] });
  const ofOne = await read<ConnectionLoad>(`${path}?query=1&by=role&${range}`);
  // Without the sessions whose query is not known.
  expect(ofOne.parts).toEqual([
    { name: 'app', sessions: [1.5, 1] },
    { name: 'bob', sessions: [1.5, 0] },
  ]);
  expect(ofOne.top.map(({ state }) => state)).not.toContain(null);
  expect(await read<ConnectionLoad>(path)).toEqual({ step: 300, at: [], parts: [], top: [] });
  expect(await refused(`${path}?by=host`)).toEqual([400, 'invalid_parameter', expect.any(String), 'by']);
  const stranger = await owner();
  expect(await stranger.refused(path)).toEqual([404, 'not_found', expect.any(String), undefined]);
});
