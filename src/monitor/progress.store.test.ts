import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { postgresChecks } from '../checks/postgres/postgres-checks.ts';
import type { Progress } from './progress.ts';
import { runHealthCheck } from './run.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

test('a run reports progress after each check, in the order of its databases', async () => {
  const root = await store.superuser();
  await root.query('create database "a\tb"');
  const key = await store.watched();
  const reported: Progress[] = [];
  await runHealthCheck({ ...store.deps, show: (progress) => reported.push(progress) }, key);
  const ofDatabase = postgresChecks.filter(({ scope }) => scope === 'database').length;
  const all = postgresChecks.length + 2 * ofDatabase;
  expect(reported.map(({ checks }) => checks)).toEqual(reported.map((_, at) => ({ done: at + 1, all })));
  expect(reported).toHaveLength(all);
  expect([...new Set(reported.map(({ database }) => `${database.number} ${database.name}`))]).toEqual([
    '1 postgres',
    '2 a b',
    '3 store',
  ]);
});
