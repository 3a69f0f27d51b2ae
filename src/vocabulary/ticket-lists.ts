/**
 * What members see of a ticket: `new`, `acknowledged` and `snoozed` are open, `silenced` and `resolved` are resolved.
 */
export const TICKET_STATES = ['new', 'acknowledged', 'snoozed', 'silenced', 'resolved'] as const;

export type TicketState = (typeof TICKET_STATES)[number];

/** The lists of tickets: each state, those to work on, and all. */
export const TICKET_LISTS = {
  open: ['new', 'acknowledged'],
  new: ['new'],
  acknowledged: ['acknowledged'],
  snoozed: ['snoozed'],
  silenced: ['silenced'],
  resolved: ['resolved'],
  all: TICKET_STATES,
} as const satisfies Record<string, readonly TicketState[]>;

export type TicketListName = keyof typeof TICKET_LISTS;

/** What tickets can be grouped by. */
export const TICKET_GROUPS = [
  'check',
  'connection',
  'environment',
  'tags',
  'severity',
  'state',
  'assignee',
] as const;

export type TicketGroup = (typeof TICKET_GROUPS)[number];

/** What tickets can be sorted by, and the order of each before it is reversed. */
export const TICKET_SORTS = {
  first_seen: 'desc',
  last_seen: 'desc',
  severity: 'asc',
  title: 'asc',
  connection: 'asc',
  assignee: 'asc',
} as const;

export type TicketSort = keyof typeof TICKET_SORTS;

/** How many tickets one change may name. */
export const MOST_TICKETS = 1_000;
