import type { TicketLogEntry } from '../../activity/entries-of-ticket.ts';
import type { TicketDelivery } from '../../notifications/deliveries/deliveries-of-ticket.ts';
import { identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import type { TicketSilence } from '../../tickets/silences/silences-of-ticket.ts';
import { EVENT_KINDS } from '../../vocabulary/event-kinds.ts';
import { SILENCE_REASONS } from '../../vocabulary/silence-reasons.ts';

/** What can happen to a ticket. */
const STEPS = [
  'found',
  'reopened',
  'resolved',
  'escalated',
  'deescalated',
  'assigned',
  'unassigned',
  'acknowledged',
  'unacknowledged',
  'snoozed',
  'unsnoozed',
  'snooze_over',
  'commented',
  'comment_removed',
  'silenced',
  'silence_ended',
  'silence_over',
  'sent',
  'not_sent',
  'sending',
] as const;

/** A step in the history of a ticket. */
export const TicketStep = Type.Object({
  at: timestamp('when it happened'),
  kind: stringEnum(...STEPS),
  /** A member, or `command line`; null = the service, or unknown. */
  by: nullable(Type.String()),
  /** It undid the step before. */
  undone: Type.Boolean(),
  /** The assignee, the new severity, or why it was resolved or silenced; null = nothing to add. */
  detail: nullable(Type.String()),
  /** The end of a snooze or a silence; null = it has none. */
  until: nullable(timestamp('its end')),
  /** Where it was sent, or is to be; null of a step that is no message. */
  delivery: nullable(
    Type.Object({
      id: identifier('delivery'),
      destination_id: identifier('destination'),
      destination: Type.String(),
      event: stringEnum(...EVENT_KINDS),
    }),
  ),
});

export type TicketStep = Static<typeof TicketStep>;
type Kind = (typeof STEPS)[number];

interface TicketTimes {
  first_seen_at: Date;
  reopened_at: readonly Date[];
  resolved_at: Date | null;
  resolution: string | null;
}

/** An entry of the log has a later microsecond than its change. */
const SAME_CHANGE_MS = 1_000;

/** What is stored of a ticket's past besides the ticket itself. */
export interface TicketPast {
  entries: readonly TicketLogEntry[];
  silences: readonly TicketSilence[];
  deliveries: readonly TicketDelivery[];
}

/**
 * All steps of a ticket, the oldest first: from the log, its silences, its messages, and the ticket itself where the log is shorter.
 */
export function toTicketHistory(
  ticket: TicketTimes,
  { entries, silences, deliveries }: TicketPast,
  now: Date,
): TicketStep[] {
  const silenced = silences.flatMap((silence) => silenceSteps(silence, now));
  const logged = entries
    .flatMap(logStep)
    // The silence that resolved it says more.
    .filter((step) => !(isSilenced(step.detail) && has(silenced, 'silenced', step.at)));
  const known = [...logged, ...silenced];
  const stored: TicketStep[] = [newStep('found', ticket.first_seen_at)];
  for (const at of ticket.reopened_at) if (!has(known, 'reopened', at)) stored.push(newStep('reopened', at));
  const { resolved_at: end, resolution: detail } = ticket;
  if (end !== null && !has(known, 'resolved', end) && !has(known, 'silenced', end))
    stored.push(newStep('resolved', end, { detail }));
  const steps = [...stored, ...known, ...deliveries.map(deliveryStep)].sort(
    (a, b) => Date.parse(a.at) - Date.parse(b.at),
  );
  return withSnoozeEnds(steps, now);
}

const isSilenced = (detail: string | null) => detail?.startsWith('silenced: ') === true;

function newStep(kind: Kind, at: Date, more: Partial<TicketStep> = {}): TicketStep {
  return {
    at: at.toISOString(),
    kind,
    by: null,
    undone: false,
    detail: null,
    until: null,
    delivery: null,
    ...more,
  };
}

function has(steps: readonly TicketStep[], kind: Kind, at: Date | string): boolean {
  const time = new Date(at).getTime();
  return steps.some((step) => step.kind === kind && Math.abs(Date.parse(step.at) - time) < SAME_CHANGE_MS);
}

const LOGGED: Readonly<Record<string, Kind>> = {
  ticket_reopened: 'reopened',
  ticket_resolved: 'resolved',
  ticket_escalated: 'escalated',
  ticket_deescalated: 'deescalated',
  ticket_assigned: 'assigned',
  ticket_acknowledged: 'acknowledged',
  ticket_unacknowledged: 'unacknowledged',
  ticket_commented: 'commented',
  ticket_comment_removed: 'comment_removed',
};

/** What only members and commands do. */
const MEMBER_STEPS: readonly Kind[] = [
  'assigned',
  'acknowledged',
  'unacknowledged',
  'commented',
  'comment_removed',
];

function logStep({ at, action_type, properties }: TicketLogEntry): TicketStep[] {
  const kind = LOGGED[action_type];
  if (!kind) return [];
  const text = (name: string) => (typeof properties[name] === 'string' ? properties[name] : null);
  const by = text('actor_name') ?? (MEMBER_STEPS.includes(kind) ? 'command line' : null);
  const step = newStep(kind, at, { by, undone: properties['undone'] === true });
  const until = toIso(text('until'));
  if (kind === 'assigned') {
    const detail = text('assignee_name');
    return [{ ...step, kind: detail === null ? 'unassigned' : 'assigned', detail }];
  }
  if (kind === 'acknowledged') return [{ ...step, kind: until === null ? kind : 'snoozed', until }];
  if (kind === 'unacknowledged') return [{ ...step, kind: until === null ? kind : 'unsnoozed' }];
  return [{ ...step, detail: text(kind === 'resolved' ? 'reason' : 'to') }];
}

function toIso(text: string | null): string | null {
  return text === null ? null : new Date(text).toISOString();
}

function silenceSteps(silence: TicketSilence, now: Date): TicketStep[] {
  const { created_at, created_by: by, reason, note, ends_at, ended_at, ended_by } = silence;
  const detail = `${SILENCE_REASONS[reason]}: ${note}`;
  const steps = [newStep('silenced', created_at, { by, detail, until: ends_at?.toISOString() ?? null })];
  if (ended_at !== null) steps.push(newStep('silence_ended', ended_at, { by: ended_by }));
  else if (ends_at !== null && ends_at <= now) steps.push(newStep('silence_over', ends_at));
  return steps;
}

const SENT = { accepted: 'sent', given_up: 'not_sent', cancelled: 'not_sent', queued: 'sending' } as const;

function deliveryStep(sent: TicketDelivery): TicketStep {
  const { id, destination_id, destination, kind: event, state, reason, queued_at, ended_at } = sent;
  const delivery = { id, destination_id, destination, event };
  return newStep(SENT[state], ended_at ?? queued_at, { detail: reason, delivery });
}

/** What ends a snooze before its time. */
const ENDS_SNOOZE: readonly Kind[] = [
  'acknowledged',
  'unacknowledged',
  'snoozed',
  'unsnoozed',
  'resolved',
  'silenced',
  'escalated',
];

/** Adds the end of each snooze that lasted until its time. */
function withSnoozeEnds(steps: readonly TicketStep[], now: Date): TicketStep[] {
  const ends = steps.flatMap(({ kind, until }, place) => {
    if (kind !== 'snoozed' || until === null || Date.parse(until) > now.getTime()) return [];
    const later = steps.slice(place + 1).find((step) => ENDS_SNOOZE.includes(step.kind));
    return later && later.at < until ? [] : [newStep('snooze_over', new Date(until))];
  });
  return [...steps, ...ends].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}
