import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Destination } from '../../../../src/console-api/notifications/destination-schemas.ts';
import { setTimeZone } from '../../time-zone.ts';
import { healthOf } from './health-text.ts';

type Recipient = Destination['recipients'][number];

const queue = {
  queued: 0,
  dropped: 0,
  last_sequence: 7,
  epoch: 'a',
  failing_since: null,
  last_result: '200 OK',
  last_success_at: '2026-03-02T03:10:00Z',
  last_attempt_at: '2026-03-02T03:10:00Z',
};
const slack: Destination = {
  id: 1,
  name: 'Slack',
  channel: 'slack',
  target: 'https://hooks.slack.com',
  settings: {},
  kinds: [],
  kinds_not_in_plan: [],
  minimum_severity: null,
  requests_per_second: 50,
  quiet_hours: null,
  digest: null,
  next_digest_at: null,
  connections: { ids: null, names: null },
  recipients: [],
  stream: null,
  queue,
  state: 'enabled',
  state_reason: null,
  state_since: '2026-03-02T12:00:00Z',
  created_at: '2026-03-01T12:00:00Z',
};

beforeAll(() => setTimeZone('utc')); // wherever this runs
afterAll(() => setTimeZone('local'));

const wordsOf = (changed: Partial<Destination>) => {
  const { word, detail } = healthOf({ ...slack, ...changed });
  return detail === null ? word : `${word}: ${detail}`;
};

test('a destination that works, and one that was never used', () => {
  expect(wordsOf({})).toBe('Delivering');
  expect(wordsOf({ queue: { ...queue, last_success_at: null } })).toBe('Nothing sent yet');
});

test('a failing destination says since when, and what came back', () => {
  const failing = { failing_since: '2026-03-02T03:12:00Z', last_result: '503 Service Unavailable' };
  expect(wordsOf({ queue: { ...queue, ...failing, queued: 2 } })).toBe(
    'Retrying since 2 Mar 2026, 03:12 UTC: 503 Service Unavailable',
  );
  // A test that failed is not tried again.
  expect(wordsOf({ queue: { ...queue, ...failing } })).toMatch(/^Failing since /);
});

test('a disabled or paused destination says why', () => {
  const disabled = { state: 'disabled', state_reason: 'every attempt failed for 5 days' } as const;
  expect(wordsOf(disabled)).toBe('Disabled on 2 Mar 2026 UTC: every attempt failed for 5 days');
  expect(wordsOf({ state: 'paused', state_reason: 'restored from a backup' })).toBe(
    'Paused: restored from a backup',
  );
});

test('e-mail waits for its first confirmation', () => {
  const recipient = (state: Recipient['state']) => ({
    email: `${state}@example.com`,
    state,
    asked_at: null,
    confirmed_at: null,
  });
  const waiting = recipient('unconfirmed');
  const confirmed = recipient('confirmed');
  const gone = recipient('unsubscribed');
  const email = (recipients: Destination['recipients']) => wordsOf({ channel: 'email', recipients });
  expect(email([waiting])).toBe('Waiting for 1 recipient to confirm');
  expect(email([waiting, gone, waiting])).toBe('Waiting for 2 recipients to confirm');
  expect(email([gone])).toBe('No recipients: All recipients unsubscribed');
  expect(email([waiting, confirmed])).toBe('Delivering');
});

test('a receiver can’t turn the text around it', () => {
  const failing = { failing_since: '2026-03-02T03:12:00Z', last_result: '200 \u202eKO' };
  expect(wordsOf({ queue: { ...queue, ...failing } })).toContain('200 \\u202eKO');
});
