import { expect, test } from 'vitest';
import { restoredValues } from './undo-thresholds.ts';

test('values go back where they still are as they were set, equal ones together', () => {
  const before = new Map([
    [1, { warning: 5 }],
    [2, {}],
    [3, {}],
    [4, { warning: 7 }],
  ]);
  const set = { warning: 7, critical: null };
  const now = new Map([
    [1, { warning: 7 }],
    [2, { warning: 7, critical: 9 }], // critical was set since
    [3, { warning: 8 }], // changed since
    [4, { warning: 7 }], // as before
  ]);
  expect(restoredValues(before, set, now)).toEqual([
    { keys: [1], values: { warning: 5 } },
    { keys: [2], values: { warning: null } },
  ]);
  expect(restoredValues(new Map([['', { warning: 1 }]]), { warning: null }, new Map())).toEqual([
    { keys: [''], values: { warning: 1 } },
  ]);
});
