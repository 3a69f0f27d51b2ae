import { Rejection } from '../../platform/rejection.ts';
import { count, identifier } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { untilOf } from '../../tickets/silences/until.ts';
import { changeTriage } from '../../tickets/triage/change-triage.ts';
import { undoTriage } from '../../tickets/triage/undo-triage.ts';
import { MOST_TICKETS } from '../../vocabulary/ticket-lists.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';

const Tickets = Type.Array(
  Type.Object(
    { id: identifier('ticket identifier'), version: count('as the member saw it') },
    { additionalProperties: false },
  ),
  {
    minItems: 1,
    maxItems: MOST_TICKETS,
    description: `Choose 1 to ${MOST_TICKETS.toLocaleString('en')} tickets.`,
  },
);

const NewTriage = Type.Object(
  {
    tickets: Tickets,
    /** Null = nobody. */
    assignee_id: Type.Optional(
      Type.Union([Type.Null(), identifier('member')], { description: 'Choose a member of the account.' }),
    ),
    acknowledged: Type.Optional(
      Type.Boolean({ description: 'Say whether the tickets are acknowledged: true or false.' }),
    ),
    /** With `acknowledged`: the end of a snooze. Null = until it is resolved or gets worse. */
    until: Type.Optional(
      Type.Union([Type.Null(), Type.String({ minLength: 1, maxLength: 40 })], {
        description: 'Enter a date-time such as 2030-01-31T18:00:00Z, or a duration such as 4h.',
      }),
    ),
  },
  { additionalProperties: false },
);

export const TriageResult = Type.Object({
  /** The new versions. */
  changed: Type.Array(Type.Object({ id: identifier('ticket identifier'), version: count('version') })),
  /** What somebody changed, or what was resolved, after the member saw it. */
  skipped: Type.Array(
    Type.Object({
      id: identifier('ticket identifier'),
      reason: stringEnum('resolved', 'changed'),
      by: nullable(Type.String()),
    }),
  ),
});

const People = Type.Object({
  data: Type.Array(Type.Object({ id: identifier('member'), name: Type.String() })),
});

export type NewTriage = Static<typeof NewTriage>;
export type TriageResult = Static<typeof TriageResult>;
export type People = Static<typeof People>;

const triage = consoleRoute({
  method: 'POST',
  path: '/tickets/triage',
  permission: 'connections:write',
  body: NewTriage,
  response: TriageResult,
  cost: 5,
  async handler({ body: { tickets, assignee_id, acknowledged, until = null }, change }) {
    if (until !== null && !acknowledged) {
      throw new Rejection('invalid_parameter', 'Acknowledge the tickets to snooze them until a time.', {
        parameter: 'until',
      });
    }
    return changeTriage(change, tickets, {
      ...(assignee_id !== undefined && { assignee_id }),
      ...(acknowledged !== undefined && {
        acknowledged: acknowledged && { until: until === null ? null : untilOf('until')(until) },
      }),
    });
  },
});

const undo = consoleRoute({
  method: 'POST',
  path: '/tickets/triage/undo',
  permission: 'connections:write',
  body: Type.Object({ tickets: Tickets }, { additionalProperties: false }),
  response: TriageResult,
  cost: 5,
  async handler({ body: { tickets }, change }) {
    return undoTriage(change, tickets);
  },
});

const selectPeople = `
  select member_id as id, name
    from member
   where account_id = $1 and status = 'active'
   order by lower(name), member_id`;

const getPeople = consoleRoute({
  method: 'GET',
  path: '/tickets/people',
  permission: 'tickets:read',
  response: People,
  async handler({ actor: { accountId }, read }) {
    return { data: await read((run) => run<People['data'][number]>(selectPeople, [accountId])) };
  },
});

/** Changes of tickets by members, and whom tickets can be assigned to. */
export const ticketTriageRoutes: ConsoleRoute[] = [triage, undo, getPeople];
