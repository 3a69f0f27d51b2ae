import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { Gate } from './admit.ts';
import { addAccount, addKey, request } from './applicants-fixture.ts';

let store: TestStore;
let gate: Gate;
let ask: () => Promise<string>;
const sizes: number[] = [];

beforeAll(async () => {
  store = await startTestStore();
  gate = new Gate(store.address, (size) => sizes.push(size));
  const accountId = await addAccount(store, 100_000);
  const keyId = await addKey(store, accountId);
  ask = async () => (await gate.admit(request(accountId, keyId))).verdict;
  await ask();
});

beforeEach(() => {
  sizes.length = 0;
});

afterAll(async () => {
  await gate.close();
  await store.stop();
});

/** A request that reads its answer before it asks for admission. */
function reader() {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  return { end: resolve, fail: reject, verdict: gate.whileReading(promise).then(ask) };
}

// A busy machine may stop this process for longer than a batch waits.
test('a batch waits while more requests read than wait', { retry: 5 }, async () => {
  const readers = [reader(), reader(), reader(), reader()];
  readers[0]?.end();
  await turn();
  await turn();
  expect(gate.waiting).toBe(1);
  readers[1]?.end();
  // Now as many wait as read.
  expect(await Promise.all([readers[0]?.verdict, readers[1]?.verdict])).toEqual(['admitted', 'admitted']);
  for (const { end } of readers) end();
  await Promise.all(readers.map(({ verdict }) => verdict));
  expect(sizes).toEqual([2, 2]);
});

test('a request does not wait for one other, nor long for many', async () => {
  const other = reader();
  const alone = ask();
  await expect(alone).resolves.toBe('admitted');
  const many = Array.from({ length: 50 }, reader);
  expect(await ask()).toBe('admitted');
  expect(sizes).toEqual([1, 1]);
  for (const { end } of [other, ...many]) end();
  await Promise.all([other, ...many].map(({ verdict }) => verdict));
  expect(sizes).toEqual([1, 1, 51]);
});

test('a read that fails is not waited for', async () => {
  const [failing, ...others] = [reader(), reader(), reader()];
  const waiting = ask();
  await turn();
  failing.fail(new Error('no answer'));
  for (const { fail } of others) fail(new Error('no answer'));
  for (const { verdict } of [failing, ...others]) await expect(verdict).rejects.toThrow('no answer');
  expect(await waiting).toBe('admitted');
  expect(await ask()).toBe('admitted');
  expect(sizes).toEqual([1, 1]);
});
