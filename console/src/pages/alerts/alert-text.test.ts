import { expect, test } from 'vitest';
import type { Alert } from '../../../../src/console-api/alerts/alert-schemas.ts';
import { alertValue, crossedText, needsAttention, openSummary } from './alert-text.ts';

const now = Date.parse('2026-01-31T12:00:00Z');
const alert = {
  severity: 'critical',
  kind: 'score',
  unit: 'count',
  operator: '<',
  threshold: 50,
  value: 12,
  acknowledged: null,
  held: null,
} as Alert;
const acknowledged = { at: '2026-01-31T11:00:00Z', until: '2026-01-31T13:00:00Z', by: 'Ada', note: '' };

test.each([
  ['score', 'count', 12, '12'],
  ['unreachable_seconds', 'seconds', 780, '13 min'],
  ['intervals_since_check', 'count', 3.5, '3.5 intervals'],
  ['days_left', 'count', 1, '1 day'],
  ['days_left', 'count', 4.25, '4.25 days'],
  ['measure', 'ratio', 0.93, '93 %'],
  ['measure', 'bytes', 3_650_722_202, '3.4 GB'],
  ['findings_critical', 'count', 2, '2'],
] as const)('%s in %s: %d is %s', (kind, unit, value, text) => {
  expect(alertValue(kind, unit, value)).toBe(text);
});

test('says value and threshold', () => {
  expect(crossedText(alert)).toBe('12, below 50');
});

test('an acknowledged or held alert needs no attention', () => {
  expect(needsAttention(alert, now)).toBe(true);
  expect(needsAttention({ ...alert, acknowledged }, now)).toBe(false);
  expect(needsAttention({ ...alert, acknowledged }, Date.parse(acknowledged.until))).toBe(true);
  expect(needsAttention({ ...alert, acknowledged: { ...acknowledged, until: null } }, now)).toBe(false);
  expect(needsAttention({ ...alert, held: 'maintenance' }, now)).toBe(false);
});

test('counts open alerts', () => {
  expect(openSummary([], now)).toBe('No alert is open.');
  const warning = { ...alert, severity: 'warning', acknowledged } as Alert;
  expect(openSummary([alert, alert, warning], now)).toBe('2 critical, 1 warning open, 1 acknowledged.');
});
