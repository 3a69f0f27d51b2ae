import { identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';

/** A change of a monitored server or of how it is monitored. It contains untrusted text: render it as text. */
export const ListedChange = Type.Object({
  id: identifier('change identifier'),
  at: timestamp('time of the run that found it, or when a member changed it'),
  /** An open set: setting, version, restart, failover, extension, standby, table, column, index, finding, silence, … */
  kind: Type.String(),
  /** '' for the whole server. */
  database: Type.String(),
  /** The setting, table, index, check or the like. */
  subject: Type.String(),
  /** Null = it came. */
  before: nullable(Type.String()),
  /** Null = it went. */
  after: nullable(Type.String()),
  /** Of a setting: file, ALTER SYSTEM, database or role; of a member's change: who. */
  source: nullable(Type.String()),
});

export const ConnectionChanges = Type.Object({
  /** Newest first. */
  changes: Type.Array(ListedChange),
  next: nullable(Type.String({ description: '`before` of the next page; null on the last' })),
});

export const TicketChanges = Type.Object({
  from: timestamp('24 hours before the ticket was seen first'),
  to: timestamp('when the ticket was seen first'),
  /** Newest first. */
  changes: Type.Array(ListedChange),
  /** There are more changes than these. */
  more: Type.Boolean(),
});

export type ListedChange = Static<typeof ListedChange>;
/** GET /connections/:id/changes?from=&to=&before=&limit= */
export type ConnectionChanges = Static<typeof ConnectionChanges>;
/** GET /tickets/:id/changes */
export type TicketChanges = Static<typeof TicketChanges>;
