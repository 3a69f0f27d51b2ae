import { expect, test } from 'vitest';
import { type Notice, withNotice } from './announcer.tsx';

const notice = (id: number, visible: boolean): Notice => ({
  id,
  text: `Notice ${id}`,
  visible,
  action: null,
});

test('hidden announcements do not push out visible notices', () => {
  let kept: Notice[] = [notice(0, true)];
  for (let id = 1; id <= 6; id += 1) kept = withNotice(kept, notice(id, false));
  expect(kept.map(({ id }) => id)).toEqual([0, 3, 4, 5, 6]);
  for (let id = 7; id <= 10; id += 1) kept = withNotice(kept, notice(id, true));
  expect(kept.map(({ id }) => id)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
});
