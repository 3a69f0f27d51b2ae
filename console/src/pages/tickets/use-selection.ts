import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { TicketDetail } from '../../../../src/console-api/tickets/ticket.ts';
import { MOST_TICKETS } from '../../../../src/vocabulary/ticket-lists.ts';
import { focusedRow, isInPanel } from '../../parts/keyboard-navigation.ts';
import { useRowSelection } from '../../parts/row-selection.ts';
import { useCan } from '../../shell/profile.ts';
import { type SeenTicket, type Ticket, ticketQuery } from './tickets-query.ts';
import type { TicketsSearch } from './tickets-search.ts';
import type { Target } from './use-triage-actions.tsx';

/**
 * The selected tickets. `targets` are the tickets of an action: the open one while the focus is in its panel or the panel covers the
 * list, else the selected ones, the focused row, or the open one.
 */
export function useSelection(tickets: readonly Ticket[], search: TicketsSearch) {
  const canSelect = useCan()('connections:write');
  const { chosen, setChosen, toggle, clear } = useRowSelection<SeenTicket>(tickets, {
    most: MOST_TICKETS,
    canSelect,
    // First it closes the open ticket.
    canClear: !search.ticket,
  });
  const queries = useQueryClient();
  const choice = JSON.stringify({
    ...search,
    ticket: undefined,
    sort: undefined,
    reverse: undefined,
    group: undefined,
  });
  const [of, setOf] = useState(choice);
  // Another list: nothing that is out of sight stays selected.
  if (of !== choice) {
    setOf(choice);
    setChosen(new Map());
  }
  const current = useRef(choice);
  useEffect(() => {
    current.current = choice;
  }, [choice]);
  const targets = (): readonly Target[] => {
    const { queryKey } = ticketQuery(search.ticket ?? '');
    const open = queries.getQueryData<TicketDetail>(queryKey);
    // What a member reads, not what is selected in a list out of sight.
    if (open && (isInPanel() || isListHidden())) return [open];
    if (chosen.size > 0) {
      const shown = new Map(tickets.map((ticket) => [ticket.id, ticket]));
      // A ticket beyond the loaded pages was selected with the rest, in the version that it had then.
      return [...chosen.values()].map(
        ({ id, version }) => shown.get(id) ?? { id, version, state: '', assignee: null },
      );
    }
    const row = tickets[focusedRow()];
    if (row) return [row];
    return open ? [open] : [];
  };
  const ids = useMemo(() => new Set(chosen.keys()), [chosen]);
  return {
    ids,
    toggle,
    clear,
    targets,
    /** Selects tickets that are still to be fetched, unless another list is shown by then. */
    selectLater: () => {
      const wanted = choice;
      return (all: readonly SeenTicket[]) => {
        if (current.current === wanted) setChosen(new Map(all.map((ticket) => [ticket.id, ticket])));
      };
    },
  };
}

/** On a narrow window an open ticket covers the list. */
function isListHidden(): boolean {
  return document.querySelector('.ticket-list')?.checkVisibility() === false;
}
