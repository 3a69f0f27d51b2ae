import type { Plan } from './plans.ts';

/** The events of the specification (section 6), and those that a destination may choose in addition. */
export const EVENT_KINDS = [
  'health_check.completed',
  'ops.ticket_created',
  'ops.ticket_reopened',
  'ops.ticket_escalated',
  'ops.ticket_resolved',
  'alert.triggered',
  'alert.resolved',
  'destination.disabled',
  'api_key.expiring',
  'test',
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];

/** What a new destination gets unless it chooses. `test` goes to the tested destination, whatever it chose. */
export const DEFAULT_KINDS: readonly EventKind[] = [
  'ops.ticket_created',
  'ops.ticket_reopened',
  'ops.ticket_escalated',
  'ops.ticket_resolved',
  'alert.triggered',
  'alert.resolved',
];

/** The plans whose accounts get events of this kind: each follows the endpoints of its group. */
export function plansWith(kind: EventKind): readonly Plan[] {
  if (kind === 'test' || kind === 'destination.disabled') return ['individual', ...HEALTH];
  return kind === 'health_check.completed' || kind === 'api_key.expiring'
    ? HEALTH
    : ['business', 'enterprise'];
}

const HEALTH: readonly Plan[] = ['team', 'business', 'enterprise'];
