import { afterEach, expect, test, vi } from 'vitest';
import { FailedAuthentications } from './failed-authentications.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a clock that steps back makes no client wait longer than a minute, and gives none a new budget', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-27T12:00:00Z') });
  const failed = new FailedAuthentications();
  for (let attempt = 1; attempt <= 300; attempt += 1) expect(failed.count('192.0.2.1')).toBe(true);
  vi.setSystemTime('2026-11-27T11:00:00Z');
  expect(failed.count('192.0.2.1')).toBe(false);
  expect(failed.budget('192.0.2.1')).toMatchObject({ remaining: 0, resetIn: 60 });
  vi.setSystemTime('2026-11-27T11:01:00Z');
  expect(failed.count('192.0.2.1')).toBe(true);
});
