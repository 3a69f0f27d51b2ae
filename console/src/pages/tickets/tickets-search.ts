import { SEVERITIES } from '../../../../src/vocabulary/severities.ts';
import {
  TICKET_GROUPS,
  TICKET_LISTS,
  TICKET_SORTS,
  type TicketListName,
  type TicketSort,
} from '../../../../src/vocabulary/ticket-lists.ts';
import { dayOrInstant } from '../../parts/day.ts';
import { idIn, oneOf, present } from '../../parts/search-params.ts';
import { tagsIn } from '../../parts/tags-in.ts';

/** The page's search parameters: what is listed, in which order, and the open ticket. */
export type TicketsSearch = ReturnType<typeof ticketsSearch>;

export const LISTS = Object.keys(TICKET_LISTS) as TicketListName[];
const SORTS = Object.keys(TICKET_SORTS) as TicketSort[];

/** Parses an untrusted URL. */
export function ticketsSearch(given: Record<string, string>) {
  const { assignee } = given;
  return present({
    /** Default: open. */
    status: oneOf(LISTS, given['status']),
    severity: oneOf(SEVERITIES, given['severity']),
    connection_id: idIn(given['connection_id']),
    /** `me`, `nobody` or the id of a member. */
    assignee: oneOf(['me', 'nobody'], assignee) ?? idIn(assignee),
    /** Tags of the connection, separated by commas. */
    tags: tagsIn(given['tags']),
    /** Only tickets with a comment that mentions the member. */
    mentioned: oneOf(['me'], given['mentioned']),
    /** Words of the search. */
    q: given['q']?.replaceAll('\0', '').trim().slice(0, 200),
    from: dayOrInstant(given['from']),
    to: dayOrInstant(given['to']),
    group: oneOf(TICKET_GROUPS, given['group']),
    /** Default: {@link usualSort}. */
    sort: oneOf(SORTS, given['sort']),
    /** `1` = against the usual order. */
    reverse: oneOf(['1'], given['reverse']),
    ticket: idIn(given['ticket']),
  });
}

/** The order of a list unless another one is chosen: tickets to work on by severity, the newest first; others by time. */
export function usualSort({ status = 'open' }: Pick<TicketsSearch, 'status'>): TicketSort {
  return ['all', 'resolved', 'silenced'].includes(status) ? 'first_seen' : 'severity';
}
