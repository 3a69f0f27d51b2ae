import { expect, test } from 'vitest';
import type { OwnCheck } from '../../checks/own/own-check.ts';
import { ownCheck } from '../../checks/own/own-check-fixture.ts';
import { requireOwnCheck } from './own-check-rules.ts';

test.each<[Partial<OwnCheck>, string]>([
  [{ id: 'orders' }, 'capital letters'],
  [{ id: 'OWN_ORDERS' }, 'without OWN_'],
  [{ id: `A${'B'.repeat(40)}` }, '1 to 40'],
  [{ title: '' }, 'The title'],
  [{ title: 'a\u202eb' }, 'The title'],
  [{ database: 'a\nb' }, 'The database'],
  [{ remediation: 'a\u0007' }, 'The remediation'],
  [{ remediation: 'x'.repeat(2_001) }, 'at most 2,000'],
  [{ warning: null, critical: null }, 'Set warning, critical, or both'],
  [{ warning: Number.NaN }, 'is a number'],
  [{ critical: Number.POSITIVE_INFINITY }, 'is a number'],
  [{ warning: 100, critical: 10 }, 'before the warning'],
  [{ operator: '<=', warning: 1, critical: 2 }, 'before the warning'],
  [{ every: 59 }, '1m to 7d'],
  [{ timeout: 31 }, '1s to 30s'],
  [{ timeout: 0 }, '1s to 30s'],
  [{ tags: ['a b'] }, 'A tag is'],
  [{ tags: Array.from({ length: 11 }, (_, at) => `t${at}`) }, 'at most 10 tags'],
  [{ sql: 'delete from orders' }, 'must be a SELECT'],
])('it refuses %o', (given, sentence) => {
  expect(() => requireOwnCheck(ownCheck(given))).toThrow(sentence);
});

test('it stores tags in their only form', () => {
  expect(requireOwnCheck(ownCheck({ tags: ['team:Shop', 'env:production', 'team:shop'] })).tags).toEqual([
    'env:production',
    'team:shop',
  ]);
  expect(requireOwnCheck(ownCheck({ remediation: 'First\nsecond' })).remediation).toBe('First\nsecond');
});
