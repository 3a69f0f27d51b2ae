import { expect, test } from 'vitest';
import { ticketDuration } from './ticket-duration.ts';

const first_seen_at = '2026-01-31T12:00:00.000Z';
const after = (seconds: number) => Date.parse(first_seen_at) + seconds * 1000;

test.each([
  // The page's clock ticks by minutes, so it may be behind a new ticket.
  [-30, 'less than a minute'],
  [59, 'less than a minute'],
  [60, '1 min'],
  [3_720, '1 h 2 min'],
])('an open ticket, %d s after it was first seen: %s', (seconds, words) => {
  expect(ticketDuration({ first_seen_at, resolved_at: null }, after(seconds))).toBe(words);
});

test('a resolved ticket’s duration does not depend on the current time', () => {
  const resolved_at = '2026-01-31T12:08:07.000Z';
  expect(ticketDuration({ first_seen_at, resolved_at }, after(90_000))).toBe('8 min 7 s');
});
