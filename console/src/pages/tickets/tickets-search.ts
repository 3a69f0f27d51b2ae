import { SEVERITIES, type Severity } from '../../../../src/vocabulary/severities.ts';
import {
  TICKET_GROUPS,
  TICKET_LISTS,
  TICKET_SORTS,
  type TicketGroup,
  type TicketListName,
  type TicketSort,
} from '../../../../src/vocabulary/ticket-lists.ts';
import { dayOrInstant } from '../../parts/day.ts';
import { tagsIn } from '../../parts/tags-in.ts';

/** The page's search parameters: what is listed, in which order, and the open ticket. */
export interface TicketsSearch {
  /** Default: open. */
  status?: TicketListName | undefined;
  severity?: Severity | undefined;
  connection_id?: string | undefined;
  /** `me`, `nobody` or the id of a member. */
  assignee?: string | undefined;
  /** Tags of the connection, separated by commas. */
  tags?: string | undefined;
  /** Only tickets with a comment that mentions the member. */
  mentioned?: 'me' | undefined;
  /** Words of the search. */
  q?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  group?: TicketGroup | undefined;
  /** Default: {@link usualSort}. */
  sort?: TicketSort | undefined;
  /** `1` = against the usual order. */
  reverse?: '1' | undefined;
  ticket?: string | undefined;
}

export const LISTS = Object.keys(TICKET_LISTS) as TicketListName[];
const SORTS = Object.keys(TICKET_SORTS) as TicketSort[];

const ID = /^[1-9]\d{0,14}$/;

/** Parses an untrusted URL. */
export function ticketsSearch(given: Record<string, string>): TicketsSearch {
  const { connection_id, assignee, ticket } = given;
  const status = LISTS.find((word) => word === given['status']);
  const severity = SEVERITIES.find((word) => word === given['severity']);
  const group = TICKET_GROUPS.find((word) => word === given['group']);
  const sort = SORTS.find((word) => word === given['sort']);
  const from = dayOrInstant(given['from']);
  const to = dayOrInstant(given['to']);
  const tags = tagsIn(given['tags']);
  const q = given['q']?.replaceAll('\0', '').trim().slice(0, 200);
  return {
    ...(status && { status }),
    ...(severity && { severity }),
    ...(connection_id && ID.test(connection_id) && { connection_id }),
    ...(assignee && (['me', 'nobody'].includes(assignee) || ID.test(assignee)) && { assignee }),
    ...(tags && { tags }),
    ...(given['mentioned'] === 'me' && { mentioned: 'me' }),
    ...(q && { q }),
    ...(from && { from }),
    ...(to && { to }),
    ...(group && { group }),
    ...(sort && { sort }),
    ...(given['reverse'] === '1' && { reverse: '1' }),
    ...(ticket && ID.test(ticket) && { ticket }),
  };
}

/** The order of a list unless another one is chosen: tickets to work on by severity, the newest first; others by time. */
export function usualSort({ status = 'open' }: TicketsSearch): TicketSort {
  return ['all', 'resolved', 'silenced'].includes(status) ? 'first_seen' : 'severity';
}
