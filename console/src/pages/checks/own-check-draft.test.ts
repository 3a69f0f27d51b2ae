import { expect, test } from 'vitest';
import {
  hasLevels,
  levelIn,
  newDraft,
  toChangedCheck,
  toCheckId,
  toDraft,
  toNewCheck,
  toTrial,
} from './own-check-draft.ts';

const draft = {
  ...newDraft(),
  id: 'ORDERS_STUCK',
  title: 'Orders wait',
  sql: 'select 1 as value',
  unit: 'ratio' as const,
  warning: '10',
  critical: '50',
  every: '300',
  tags: 'shop, env:production\nteam:orders',
};

test('an id follows from a title', () => {
  expect(toCheckId('Orders wait for payment!')).toBe('ORDERS_WAIT_FOR_PAYMENT');
  expect(toCheckId('7 Zahlungen überfällig')).toBe('ZAHLUNGEN_UBERFALLIG');
  expect(toCheckId('own own_x')).toBe('X');
  expect(toCheckId('注文')).toBe('');
  expect(toCheckId('a '.repeat(60))).toMatch(/^[A-Z][A-Z_]{0,39}$/);
});

test('levels are entered in the unit that people say', () => {
  expect(levelIn('10', 'ratio')).toBe(0.1);
  expect(levelIn('2', 'bytes')).toBe(2 * 1024 ** 2);
  expect(levelIn('-5', 'count')).toBe(-5);
  expect(levelIn(' ', 'count')).toBeNull();
  expect(levelIn('ten', 'count')).toBeUndefined();
  expect(hasLevels(draft)).toBe(true);
  expect(hasLevels({ ...draft, warning: '', critical: '' })).toBe(false);
  expect(hasLevels({ ...draft, warning: 'ten' })).toBe(false);
});

test('what is entered is what is sent, and what was stored is shown again', () => {
  const sent = toNewCheck(draft);
  expect(sent).toEqual({
    id: 'ORDERS_STUCK',
    title: 'Orders wait',
    engine: 'postgres',
    database: null,
    sql: 'select 1 as value',
    unit: 'ratio',
    operator: '>=',
    warning: 0.1,
    critical: 0.5,
    remediation: '',
    every: 300,
    timeout: 5,
    tags: ['shop', 'env:production', 'team:orders'],
  });
  const changed_at = '2026-03-02T10:15:00.000Z';
  const stored = { ...sent, connections: 2, changed_at, changed_by: 'Ada' };
  const { id: _, ...definition } = sent;
  expect(toChangedCheck(toDraft(stored), stored)).toEqual({ ...definition, seen: changed_at });
  expect(toTrial(draft, 12)).toMatchObject({ connection_id: 12, warning: 0.1, timeout: 5 });
  expect(toTrial({ ...draft, warning: 'ten' }, 12)).toMatchObject({ warning: null });
});
