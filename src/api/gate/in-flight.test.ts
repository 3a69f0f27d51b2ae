import { expect, test } from 'vitest';
import { enter, leave } from './in-flight.ts';

test('a thousand requests of a key are in flight, later ones wait in their order, and none is rejected', async () => {
  const key = { inFlight: 0, waiting: [] };
  for (let n = 0; n < 1_000; n += 1) expect(enter(key)).toBeNull();
  const entered: number[] = [];
  const waiting = [1, 2, 3].map((n) => enter(key)?.then(() => entered.push(n)));
  expect(waiting).not.toContain(undefined);
  leave(key);
  leave(key);
  await Promise.all(waiting.slice(0, 2));
  expect(entered).toEqual([1, 2]);
  expect(key.inFlight).toBe(1_000);
  leave(key);
  await waiting[2];
  for (let n = 0; n < 1_000; n += 1) leave(key);
  expect(key).toEqual({ inFlight: 0, waiting: [] });
  expect(enter(key)).toBeNull();
});
