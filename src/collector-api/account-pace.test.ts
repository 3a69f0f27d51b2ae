import { expect, test } from 'vitest';
import { AccountPace } from './account-pace.ts';

let clock = 0;
const pace = new AccountPace(() => clock);
const take = (accountId: number, ms: number) =>
  pace.spend(accountId, async () => {
    clock += ms;
  });

test('an account pauses three times as long as its requests took, and no other account does', async () => {
  await take(1, 100);
  expect([pace.pause(1), pace.pause(2)]).toEqual([300, 0]);
  clock += 250;
  expect(pace.pause(1)).toBe(50);
  // Requests at the same time add up.
  await take(1, 10);
  expect(pace.pause(1)).toBe(70);
  clock += 70;
  expect(pace.pause(1)).toBe(0);
});

test('a request that fails counts, and a pause is at most ten seconds', async () => {
  const failing = pace.spend(3, async () => {
    clock += 60_000;
    throw new Error('broken');
  });
  await expect(failing).rejects.toThrow('broken');
  expect(pace.pause(3)).toBe(10_000);
});
