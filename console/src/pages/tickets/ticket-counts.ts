import type { TicketCounts } from '../../../../src/console-api/tickets/ticket-list.ts';
import { TICKET_LISTS, type TicketListName } from '../../../../src/vocabulary/ticket-lists.ts';
import type { TicketsSearch } from './tickets-search.ts';

/** The counts on the filters of the page. */
export interface FilterCounts {
  /** Of a list, with the chosen severity and mentions. */
  list: (name: TicketListName) => number;
  /** Of a severity, in the chosen list. */
  severity: (name: string) => number;
  /** Of those that mention the member, in the chosen list and severity. */
  mentioned: number;
}

/** What each filter leads to if it is chosen in place of its neighbours; the others stay as they are. */
export function filterCounts(
  rows: TicketCounts['data'],
  { status = 'open', severity, mentioned }: TicketsSearch,
): FilterCounts {
  const total = (matches: (row: TicketCounts['data'][number]) => boolean) =>
    rows.filter(matches).reduce((sum, { count }) => sum + count, 0);
  const isIn = (list: TicketListName, state: string) =>
    (TICKET_LISTS[list] as readonly string[]).includes(state);
  const isMentioned = (row: { mentioned: boolean }) => mentioned === undefined || row.mentioned;
  const isSevere = (row: { severity: string }) => severity === undefined || row.severity === severity;
  return {
    list: (name) => total((row) => isIn(name, row.state) && isSevere(row) && isMentioned(row)),
    severity: (name) => total((row) => isIn(status, row.state) && row.severity === name && isMentioned(row)),
    mentioned: total((row) => isIn(status, row.state) && isSevere(row) && row.mentioned),
  };
}
