import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Lookups } from './lookups.ts';

const HANGS_MS = 30;

/** Lookups by a resolver with 64 threads, each of which a name that hangs takes for a while. */
function start() {
  let threads = 64;
  const queue: (() => void)[] = [];
  const asked: string[] = [];
  const lookups = new Lookups(async (host: string) => {
    asked.push(host);
    if (threads === 0) await new Promise<void>((resolve) => queue.push(resolve));
    else threads--;
    try {
      if (!host.startsWith('hung')) return host;
      await wait(3 * HANGS_MS);
      throw new Error('EAI_AGAIN');
    } finally {
      const next = queue.shift();
      if (next) next();
      else threads++;
    }
  }, HANGS_MS);
  const hung = Array.from({ length: 200 }, (_, n) => `hung-${n}`);
  const failed = (host: string) => lookups.look(host).catch(() => 'failed');
  return { lookups, asked, askHung: () => Promise.all(hung.map(failed)) };
}

/** Whether it is answered before any name that hangs could be. */
async function isSoon(answer: Promise<unknown>): Promise<boolean> {
  return await Promise.race([answer.then(() => true), wait(HANGS_MS / 2, false)]);
}

test('names that were answered never wait for 200 that hang, from the first time on', async () => {
  const { lookups, askHung } = start();
  await lookups.look('calm');
  for (let round = 0; round < 2; round++) {
    const hanging = askHung();
    expect(await isSoon(lookups.look('calm'))).toBe(true);
    await hanging;
  }
});

test('a name that is new does not wait for those that are known to hang', async () => {
  const { lookups, askHung } = start();
  await askHung();
  const hanging = askHung();
  expect(await isSoon(lookups.look('new'))).toBe(true);
  await hanging;
});

test('a name is asked for once at a time, and one that is answered again is no longer among those that hang', async () => {
  const { lookups, asked } = start();
  const both = [lookups.look('a'), lookups.look('a')];
  expect(await Promise.all(both)).toEqual(['a', 'a']);
  expect(asked).toEqual(['a']);
  let calls = 0;
  const recovering = new Lookups(async (host: string) => {
    if (++calls > 1) return host;
    await wait(2 * HANGS_MS);
    throw new Error('EAI_AGAIN');
  }, HANGS_MS);
  await expect(recovering.look('a')).rejects.toThrow('EAI_AGAIN');
  expect([await recovering.look('a'), await recovering.look('a'), calls]).toEqual(['a', 'a', 3]);
});
