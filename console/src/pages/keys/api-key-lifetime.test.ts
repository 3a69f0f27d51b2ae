import { describe, expect, test } from 'vitest';
import { type ApiKey, isInUse, later, overlapChoices, secondsToEndOf, statusOf } from './api-key-lifetime.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const after = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();
const DAY = 86_400;

function key(changes: Partial<ApiKey> = {}): ApiKey {
  return {
    id: 1,
    name: 'grafana',
    note: null,
    last_four: 'a1B2',
    state: 'active',
    created_by: null,
    created_at: after(-60 * DAY),
    expires_at: null,
    revoked_at: null,
    replaced_by: null,
    replaces: null,
    last_used_at: null,
    last_used_from: null,
    requests_24h: 0,
    limited_24h: 0,
    scopes: null,
    allowed_addresses: null,
    version: 1,
    ...changes,
  };
}

describe('the status of a key', () => {
  test.each([
    ['without expiry', key(), 'active'],
    ['that expires in 15 days', key({ expires_at: after(15 * DAY) }), 'active'],
    ['that expires in 13 days', key({ expires_at: after(13 * DAY) }), 'expiring'],
    ['of a week, on its first day', key({ created_at: after(-DAY), expires_at: after(6 * DAY) }), 'active'],
    ['of a week, on its last', key({ created_at: after(-6 * DAY), expires_at: after(DAY) }), 'expiring'],
    [
      'that was regenerated and still works',
      key({ replaced_by: 2, revoked_at: after(60), expires_at: after(DAY) }),
      'replaced',
    ],
    ['whose overlap ended meanwhile', key({ replaced_by: 2, revoked_at: after(0) }), 'revoked'],
    ['that expired meanwhile', key({ expires_at: after(0) }), 'expired'],
    ['that the service calls revoked', key({ state: 'revoked', revoked_at: after(60) }), 'revoked'],
  ])('%s', (_, subject, status) => {
    expect(statusOf(subject, NOW)).toBe(status);
  });
});

test('an old key never outlives its own expiry', () => {
  const words = (expiresAt: string | null) => overlapChoices(expiresAt, NOW).map(({ label }) => label);
  const all = [
    'Immediately',
    'After 1 minute',
    'After 15 minutes',
    'After 1 hour',
    'After 6 hours',
    'After 24 hours',
  ];
  expect(words(null)).toEqual(all);
  expect(words(after(2 * DAY))).toEqual(all);
  expect(overlapChoices(after(3 * 3_600), NOW).at(-1)).toEqual({
    seconds: 21_600,
    label: 'When it expires',
  });
  expect(words(after(30))).toEqual(['Immediately', 'When it expires']);
});

test('a key is in use for an hour after a request', () => {
  expect(isInUse(after(-3_599), NOW)).toBe(true);
  expect(isInUse(after(-3_600), NOW)).toBe(false);
  expect(isInUse(null, NOW)).toBe(false);
});

test('later() returns the later instant and ignores missing ones', () => {
  expect(later(after(1), after(2))).toBe(after(2));
  expect(later(after(2), after(1))).toBe(after(2));
  expect(later(null, after(1))).toBe(after(1));
  expect(later(after(1), undefined)).toBe(after(1));
  expect(later(null, undefined)).toBeNull();
});

test('a key expires at the end of its last day, which must not be past', () => {
  const noon = new Date('2026-11-21T12:00:00').getTime(); // in the viewer's time zone
  expect(secondsToEndOf('2026-11-21', noon)).toBe(12 * 3_600 - 1);
  expect(secondsToEndOf('2026-11-20', noon)).toBeNull();
  expect(secondsToEndOf('', noon)).toBeNull();
});
