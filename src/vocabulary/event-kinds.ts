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
  'digest',
  'collector.silent',
  'collector.returned',
  'test',
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];

/** The kinds that go to one destination, whatever it chose: the tested one, and the one whose digest is due. */
export const DIRECTED_KINDS: readonly EventKind[] = ['digest', 'test'];

/** What a new destination gets unless it chooses. */
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
  if (DIRECTED_KINDS.includes(kind) || kind === 'destination.disabled') return ['individual', ...HEALTH];
  return OF_HEALTH.includes(kind) ? HEALTH : ['business', 'enterprise'];
}

/** What goes where alerts go, whether a destination chose it or not: it says why alerts and tickets stay away. */
export const FOLLOWS: Readonly<Partial<Record<EventKind, EventKind>>> = {
  'collector.silent': 'alert.triggered',
  'collector.returned': 'alert.resolved',
};

const OF_HEALTH: readonly EventKind[] = [
  'health_check.completed',
  'api_key.expiring',
  'collector.silent',
  'collector.returned',
];

const HEALTH: readonly Plan[] = ['team', 'business', 'enterprise'];

/** On which days a digest is sent: each, or one of the week. */
export const DIGEST_DAYS = ['day', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

export type DigestDay = (typeof DIGEST_DAYS)[number];
