import type { EventKind } from '../../../src/vocabulary/event-kinds.ts';

/** How the console names the kinds of events, and when they happen. */
export const KIND_TEXTS: Record<EventKind, { name: string; when: string }> = {
  'ops.ticket_created': { name: 'Ticket opened', when: 'A health check found a problem.' },
  'ops.ticket_resolved': { name: 'Ticket resolved', when: 'The problem is gone.' },
  'alert.triggered': { name: 'Alert triggered', when: 'A rule’s condition holds for a connection.' },
  'alert.resolved': { name: 'Alert resolved', when: 'The condition no longer holds.' },
  'ops.ticket_reopened': { name: 'Ticket reopened', when: 'A resolved problem came back.' },
  'ops.ticket_escalated': { name: 'Ticket escalated', when: 'A problem became more severe.' },
  'destination.disabled': { name: 'Destination disabled', when: 'Another destination failed for 5 days.' },
  'api_key.expiring': { name: 'API key expires soon', when: 'In its last 14 days, and on its last day.' },
  'collector.silent': {
    name: 'Collector silent',
    when: 'It made no contact for a minute. Sent where alerts are sent.',
  },
  'collector.returned': {
    name: 'Collector returned',
    when: 'A silent one made contact. Sent where resolved alerts are sent.',
  },
  'health_check.completed': { name: 'Health check completed', when: 'After every run of every connection.' },
  digest: { name: 'Digest', when: 'On the days that the destination has chosen.' },
  test: { name: 'Test', when: 'Somebody sent a test.' },
};
