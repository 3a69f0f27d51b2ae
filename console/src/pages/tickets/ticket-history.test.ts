import { expect, test } from 'vitest';
import { local } from '../../parts/time.tsx';
import { stepText } from './ticket-history.tsx';

const step = {
  at: '2026-01-01T00:00:00.000Z',
  by: null,
  undone: false,
  detail: null,
  until: null,
  delivery: null,
};

test('a step is a sentence that says who, to whom, until when and why', () => {
  const until = '2026-12-26T22:54:08.974Z';
  expect(stepText({ ...step, kind: 'found' })).toBe('First found');
  expect(stepText({ ...step, kind: 'assigned', by: 'Ada', detail: 'Ben' })).toBe('Assigned to Ben by Ada');
  expect(stepText({ ...step, kind: 'acknowledged', by: 'command line' })).toBe(
    'Acknowledged at the command line',
  );
  expect(stepText({ ...step, kind: 'snoozed', by: 'Ada', until })).toBe(
    `Snoozed by Ada until ${local(until)}`,
  );
  expect(stepText({ ...step, kind: 'unassigned', by: 'Ada', undone: true })).toBe(
    'Unassigned by Ada (undone)',
  );
  expect(stepText({ ...step, kind: 'silenced', by: 'Ada', detail: 'accepted risk: known' })).toBe(
    'Silenced by Ada: accepted risk: known',
  );
  expect(stepText({ ...step, kind: 'resolved', detail: 'silenced: wont_fix' })).toBe(
    'Resolved: silenced: won’t fix',
  );
  expect(stepText({ ...step, kind: 'escalated', detail: 'critical' })).toBe('Escalated to critical');
});
