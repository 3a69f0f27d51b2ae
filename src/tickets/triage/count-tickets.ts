import type { Read } from '../../store/read.ts';
import type { Severity } from '../../vocabulary/severities.ts';
import type { TicketState } from '../../vocabulary/ticket-lists.ts';
import { listed, listValues, type TicketChoice } from './list-tickets.ts';

/** How many tickets have a state and a severity, and mention a member or not. */
export interface TicketCount {
  state: TicketState;
  severity: Severity;
  mentioned: boolean;
  count: number;
}

/** A list each, with the states that are counted of it: together, each ticket once, as its list has it. */
const COUNTED = {
  open: ['new', 'acknowledged', 'snoozed'],
  silenced: ['silenced'],
  resolved: ['resolved'],
} as const;

/**
 * Counts the tickets of a choice by state, severity, and whether a comment mentions the member. The choice's own list, severity and
 * mention restrict nothing: each count is the total of the list that a filter leads to.
 */
export function countTickets(
  read: Read,
  accountId: number,
  memberId: number,
  choice: TicketChoice,
): Promise<TicketCount[]> {
  const lists = Object.entries(COUNTED) as [keyof typeof COUNTED, readonly TicketState[]][];
  const counted: TicketChoice = {
    ...choice,
    list: 'all',
    severity: null,
    mentioned: null,
    group: null,
    sort: 'first_seen',
  };
  const parts = lists.map(
    ([list, states]) => `
    select id, state, severity
      from (${listed({ ...counted, list })}) l
     where state in (${states.map((state) => `'${state}'`).join(', ')})`,
  );
  const statement = `
  select state, severity,
         id in (select k.ticket_id from ticket_comment k
                 where k.account_id = $1 and k.mentions <> '{}' and $13::bigint = any(k.mentions)) as mentioned,
         count(*)::int as count
    from (${parts.join(' union all ')}) t
   where state = any($4::text[])
   group by 1, 2, 3
   limit $6 offset $7`;
  return read<TicketCount>(statement, [...listValues(accountId, counted, { limit: 100, skip: 0 }), memberId]);
}
