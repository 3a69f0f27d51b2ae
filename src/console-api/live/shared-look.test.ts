import { expect, test } from 'vitest';
import { type Looked, SharedLook } from './shared-look.ts';

const REFUSED: Looked = { failure: { kind: 'unauthorized', reason: 'the login is refused' } };

/** A look that gives these answers, and how it ended. */
function lookWith(look: () => Promise<Looked>) {
  const ended: unknown[] = [];
  let closed = 0;
  const live = {
    look,
    end: async () => {
      closed += 1;
    },
  };
  const shared = new SharedLook(live, (error) => ended.push(error));
  return { shared, ended, closed: () => closed };
}

test('an error of our own ends the look and nothing else, and everyone who watches hears of it', async () => {
  const broken = new Error('broken');
  const { shared, ended, closed } = lookWith(() => Promise.reject(broken));
  const seen: (Looked | null)[] = [];
  shared.watch((answer) => seen.push(answer));
  await expect.poll(() => ended).toEqual([broken]);
  expect([seen, closed()]).toEqual([[null], 1]);
  shared.watch((answer) => seen.push(answer)); // too late
  expect(seen).toEqual([null, null]);
});

test('a refused login is asked once, because servers lock logins', async () => {
  let asked = 0;
  const { shared, ended, closed } = lookWith(async () => {
    asked += 1;
    return REFUSED;
  });
  const seen: (Looked | null)[] = [];
  shared.watch((answer) => seen.push(answer));
  await expect.poll(() => ended).toEqual([null]);
  expect([asked, seen, closed()]).toEqual([1, [REFUSED, null], 1]);
});
