import { expect, test } from 'vitest';
import type { TicketLogEntry } from '../../activity/entries-of-ticket.ts';
import type { TicketSilence } from '../../tickets/silences/silences-of-ticket.ts';
import { toTicketHistory } from './ticket-history.ts';

const at = (hour: number) => new Date(Date.UTC(2026, 0, 1) + hour * 3_600_000);
const entry = (hour: number, action: string, properties: Record<string, unknown> = {}): TicketLogEntry => ({
  at: at(hour),
  action_type: `ticket_${action}`,
  properties,
});
const open = { first_seen_at: at(0), reopened_at: [], resolved_at: null, resolution: null };
const NOW = at(100);
const PAST = { entries: [], silences: [], deliveries: [] };

function steps(ticket: typeof open, entries: TicketLogEntry[], silences: TicketSilence[] = []) {
  return toTicketHistory({ ...open, ...ticket }, { entries, silences, deliveries: [] }, NOW).map(
    ({ kind, by, detail }) => [kind, by, detail].filter((part) => part !== null).join(' '),
  );
}

test('a ticket whose entries are no longer in the log keeps what it knows itself', () => {
  const ticket = { ...open, reopened_at: [at(2)], resolved_at: at(3), resolution: 'no longer found' };
  expect(toTicketHistory(ticket, PAST, NOW).map(({ kind, detail }) => [kind, detail])).toEqual([
    ['found', null],
    ['reopened', null],
    ['resolved', 'no longer found'],
  ]);
});

test('a step that both the log and the ticket know is there once', () => {
  const ticket = { ...open, reopened_at: [at(2)], resolved_at: at(3), resolution: 'no longer found' };
  const entries = [
    entry(1, 'resolved', { reason: 'no longer found' }),
    entry(2, 'reopened'),
    entry(3, 'resolved', { reason: 'no longer found' }),
  ];
  const history = toTicketHistory(ticket, { ...PAST, entries }, NOW);
  expect(history.map(({ kind }) => kind)).toEqual(['found', 'resolved', 'reopened', 'resolved']);
});

test('what a member or a command does names who did it', () => {
  const actor_name = 'Ada';
  expect(
    steps(open, [
      entry(1, 'assigned', { actor_name, assignee_id: 2, assignee_name: 'Ben' }),
      entry(2, 'assigned', { actor_name, assignee_id: null, assignee_name: null }),
      entry(3, 'acknowledged', { actor_name, until: null }),
      entry(4, 'unacknowledged', { until: null }),
      entry(5, 'escalated', { from: 'info', to: 'warning' }),
    ]),
  ).toEqual([
    'found',
    'assigned Ada Ben',
    'unassigned Ada',
    'acknowledged Ada',
    'unacknowledged command line',
    'escalated warning',
  ]);
});

test('a snooze is no acknowledgement, and ends at its time unless something ends it before', () => {
  const until = at(9).toISOString();
  const snoozed = (hour: number) => entry(hour, 'acknowledged', { actor_name: 'Ada', until });
  expect(steps(open, [snoozed(1)])).toEqual(['found', 'snoozed Ada', 'snooze_over']);
  expect(steps(open, [snoozed(1), entry(2, 'unacknowledged', { actor_name: 'Ben', until })])).toEqual([
    'found',
    'snoozed Ada',
    'unsnoozed Ben',
  ]);
  expect(steps(open, [snoozed(1), entry(2, 'escalated', { to: 'critical' })])).toHaveLength(3);
  const future = entry(1, 'acknowledged', { until: at(101).toISOString() });
  expect(steps(open, [future])).toEqual(['found', 'snoozed command line']);
  // As PostgreSQL writes it.
  expect(
    toTicketHistory(
      open,
      { ...PAST, entries: [entry(1, 'acknowledged', { until: '2026-01-01T09:00:00+00:00' })] },
      NOW,
    )[1],
  ).toMatchObject({ kind: 'snoozed', until });
});

test('a silence says who accepted what and why, in place of the resolution, and how it ended', () => {
  const silence: TicketSilence = {
    created_at: at(1),
    created_by: 'Ada',
    reason: 'accepted_risk',
    note: 'known',
    ends_at: null,
    ended_at: at(5),
    ended_by: 'Ben',
  };
  const resolved = entry(1, 'resolved', { reason: 'silenced: accepted_risk', actor_name: 'Ada' });
  expect(steps(open, [resolved, entry(5, 'reopened')], [silence])).toEqual([
    'found',
    'silenced Ada accepted risk: known',
    'reopened',
    'silence_ended Ben',
  ]);
  const expired = { ...silence, ended_at: null, ended_by: null, ends_at: at(9) };
  expect(steps(open, [resolved], [expired])).toEqual([
    'found',
    'silenced Ada accepted risk: known',
    'silence_over',
  ]);
});

test('it says who was told, who was not and why, and who is yet to be told', () => {
  const sent = { id: 7, destination_id: 3, destination: 'Slack', kind: 'ops.ticket_created' as const };
  const deliveries = [
    { ...sent, state: 'queued' as const, queued_at: at(4), ended_at: null, reason: null },
    { ...sent, state: 'cancelled' as const, queued_at: at(1), ended_at: at(3), reason: 'maintenance' },
    { ...sent, state: 'accepted' as const, queued_at: at(1), ended_at: at(2), reason: null },
  ];
  const history = toTicketHistory(open, { ...PAST, deliveries }, NOW);
  expect(history.map((step) => [step.kind, step.at, step.detail])).toEqual([
    ['found', at(0).toISOString(), null],
    ['sent', at(2).toISOString(), null],
    ['not_sent', at(3).toISOString(), 'maintenance'],
    ['sending', at(4).toISOString(), null],
  ]);
  expect(history[1]?.delivery).toEqual({
    id: 7,
    destination_id: 3,
    destination: 'Slack',
    event: 'ops.ticket_created',
  });
});
