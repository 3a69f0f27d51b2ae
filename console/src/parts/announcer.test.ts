import { expect, test } from 'vitest';
import { type Notice, withNotice } from './announcer.tsx';

const notice = (id: number, kind: Notice['kind']): Notice => ({
  id,
  text: `Notice ${id}`,
  kind,
  action: null,
});

test('hidden announcements do not push out visible notices', () => {
  let kept: Notice[] = [notice(0, 'done')];
  for (let id = 1; id <= 6; id += 1) kept = withNotice(kept, notice(id, 'hidden'));
  expect(kept.map(({ id }) => id)).toEqual([0, 3, 4, 5, 6]);
  for (let id = 7; id <= 10; id += 1) kept = withNotice(kept, notice(id, id % 2 === 0 ? 'done' : 'failed'));
  expect(kept.map(({ id }) => id)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
});
