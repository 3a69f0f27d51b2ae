import { kind } from './action-kind.ts';
import {
  checkId,
  connectionId,
  flag,
  idField,
  instant,
  list,
  number,
  optional,
  orNull,
  severity,
  text,
} from './property.ts';

const ticketId = idField('the ticket', 11);
const ticket = {
  ticket_id: ticketId,
  connection_id: connectionId,
  check_id: checkId,
  severity,
  title: text('the title', 'Long transaction'),
  undone: optional(flag('whether it followed from an Undo')),
};
const until = orNull(instant('the end of a snooze; null = none'));
const levels = {
  from: text('severity before', 'warning'),
  to: text('severity after', 'critical'),
};

const byRun = {
  group: 'tickets',
  actor: 'service',
  activity: 'other',
  target: 'ticket',
  targetName: 'title',
} as const;
const byMember = { group: 'tickets', activity: 'update', target: 'ticket', targetName: 'title' } as const;

/** Tickets: what runs do to them, and what members do. */
export const TICKET_KINDS = {
  ticket_opened: kind({ ...byRun, meaning: 'A finding opened a ticket.', properties: ticket }),
  ticket_reopened: kind({
    ...byRun,
    meaning: 'A resolved ticket was opened again.',
    properties: ticket,
  }),
  ticket_resolved: kind({
    ...byRun,
    meaning: 'A ticket was resolved.',
    properties: {
      ...ticket,
      reason: orNull(text('why', 'fixed')),
      resolution_hours: orNull(number('hours since it was first seen', 1.25)),
    },
  }),
  ticket_escalated: kind({
    ...byRun,
    meaning: 'The severity of an open ticket rose.',
    properties: { ...ticket, ...levels },
  }),
  ticket_deescalated: kind({
    ...byRun,
    meaning: 'The severity of an open ticket fell.',
    properties: { ...ticket, ...levels },
  }),
  ticket_acknowledged: kind({
    ...byMember,
    meaning: 'A ticket was acknowledged, or snoozed.',
    properties: { ...ticket, until },
  }),
  ticket_unacknowledged: kind({
    ...byMember,
    meaning: 'An acknowledgement or a snooze was withdrawn.',
    properties: { ...ticket, until },
  }),
  ticket_assigned: kind({
    ...byMember,
    meaning: 'A ticket was assigned to a member, or to nobody.',
    properties: {
      ...ticket,
      assignee_id: orNull(idField('the member; null = nobody', 3)),
      assignee_name: orNull(text("the member's name", 'Ada')),
    },
  }),
  ticket_commented: kind({
    ...byMember,
    meaning: 'A member commented on a ticket. The text is not in the log.',
    properties: {
      ...ticket,
      comment_id: idField('the comment', 21),
      mentions: list('the mentioned members: `member_id` and `name`', [{ member_id: 3, name: 'Ada' }]),
    },
  }),
  ticket_comment_removed: kind({
    ...byMember,
    meaning: 'A comment on a ticket was removed.',
    targetName: null,
    properties: {
      ticket_id: ticketId,
      comment_id: idField('the comment', 21),
      written_by: text('its author', 'Ada'),
    },
  }),
};
