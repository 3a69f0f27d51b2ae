import { expect, test } from 'vitest';
import { type Change, changeText } from './change-text.ts';

const change = (given: Partial<Change>): Change => ({
  id: 1,
  at: '2026-11-22T17:00:00Z',
  kind: 'setting',
  database: '',
  subject: 'work_mem',
  before: '4MB',
  after: '64MB',
  source: null,
  ...given,
});

test.each<[Partial<Change>, string]>([
  [{}, 'Setting work_mem: 4MB → 64MB'],
  [
    { kind: 'table', database: 'app', subject: 'orders', before: null, after: 'table' },
    'Table orders in app: Added table',
  ],
  [
    { kind: 'index', subject: 'orders_idx', after: null, before: 'btree (id)' },
    'Index orders_idx: Removed btree (id)',
  ],
  [
    { kind: 'finding', subject: 'Dead rows', before: null, after: 'critical' },
    'Finding Dead rows: New critical',
  ],
  [
    { kind: 'finding', subject: 'Dead rows', before: 'warning', after: null },
    'Finding Dead rows: Gone, was warning',
  ],
  [{ kind: 'restart', subject: 'server', before: null, after: null }, 'Restart server'],
  [{ kind: 'something new', subject: 'x' }, 'something new x: 4MB → 64MB'],
  [{ before: 'a'.repeat(1_000) }, `Setting work_mem: ${'a'.repeat(80)}… → 64MB`],
])('%j reads as one line', (given, text) => expect(changeText(change(given))).toBe(text));
