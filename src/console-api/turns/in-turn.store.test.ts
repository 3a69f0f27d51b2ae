import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openPool } from '../../store/connect.ts';
import { READER_CONNECTIONS, readInTurn } from './in-turn.ts';

let store: TestStore;
let reader: pg.Pool;
beforeAll(async () => {
  store = await startTestStore();
  reader = openPool(store.address, 'console', {
    max: READER_CONNECTIONS,
    pipeline: true,
    statementTimeout: 10_000,
  });
});
afterAll(async () => {
  await reader.end();
  await store.stop();
});

test('one account with many slow reads pays for them, and neither another account nor sessions wait for all of them', async () => {
  const [greedy, modest] = [await store.account(), await store.account()];
  const ended: string[] = [];
  const charged = { greedy: 0, modest: 0 };
  const read = (name: 'greedy' | 'modest', accountId: number, seconds: number) =>
    readInTurn(
      reader,
      accountId,
      {
        chargeTime: (ms) => {
          charged[name] += ms;
        },
      },
      (run) => run('select pg_sleep($1)', [seconds]),
    ).then(() => ended.push(name));
  const slow = Array.from({ length: 12 }, () => read('greedy', greedy, 0.2));
  // As a session is looked up, without a turn: a connection is left for it.
  await reader.query('select 1');
  expect(ended).toEqual([]);
  await read('modest', modest, 0);
  expect(ended.filter((name) => name === 'greedy').length).toBeLessThanOrEqual(4);
  await Promise.all(slow);
  expect(charged.greedy).toBeGreaterThan(12 * 190);
  expect(charged.modest).toBeLessThan(charged.greedy);
});
