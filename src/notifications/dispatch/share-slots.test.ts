import { expect, test } from 'vitest';
import { type Contender, type HeldSlots, SLOTS_OF_DESTINATION, shareSlots } from './share-slots.ts';

const NONE: HeldSlots = { accounts: new Map(), destinations: new Map() };

function contender(accountId: number, destinationId: number, given: Partial<Contender> = {}): Contender {
  return { accountId, destinationId, isFailing: false, wants: 50, ...given };
}

const twenty = (accountId: number) =>
  Array.from({ length: 20 }, (_, n) => contender(accountId, accountId * 100 + n));

const sum = (given: Map<number, number>, accountId: number) =>
  [...given].reduce((all, [id, count]) => (Math.floor(id / 100) === accountId ? all + count : all), 0);

test('an account gets at most half of the slots while another waits', () => {
  const given = shareSlots([...twenty(1), contender(2, 200, { wants: 3 })], NONE, 40);
  expect(sum(given, 1)).toBe(20);
  expect(sum(given, 2)).toBe(3);
});

test('an account that is alone leaves a quarter of the slots free', () => {
  expect(sum(shareSlots(twenty(1), NONE, 40), 1)).toBe(30);
});

test('an account with the most slots gets none of the next ones', () => {
  const held = { accounts: new Map([[1, 30]]), destinations: new Map([[100, 10]]) };
  const given = shareSlots([...twenty(1), ...twenty(2)], held, 40);
  expect(sum(given, 1)).toBe(0);
  expect(sum(given, 2)).toBe(10);
});

test('a hanging destination gets few slots, and fewer once it failed', () => {
  expect(shareSlots([contender(1, 100)], NONE).get(100)).toBe(SLOTS_OF_DESTINATION);
  expect(shareSlots([contender(1, 100, { isFailing: true })], NONE).get(100)).toBe(2);
  const held = { accounts: new Map([[1, 2]]), destinations: new Map([[100, 2]]) };
  expect(shareSlots([contender(1, 100, { isFailing: true })], held).size).toBe(0);
});

test('a destination gets no more than it wants, and no slot is given twice', () => {
  const given = shareSlots([contender(1, 100, { wants: 1 }), contender(1, 101)], NONE, 8);
  expect(given.get(100)).toBe(1);
  expect(given.get(101)).toBe(5);
  const full = { accounts: new Map([[3, 8]]), destinations: new Map([[300, 8]]) };
  expect(shareSlots(twenty(1), full, 8).size).toBe(0);
});
