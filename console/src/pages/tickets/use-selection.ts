import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import type { TicketDetail } from '../../../../src/console/tickets/ticket.ts';
import { MOST_TICKETS } from '../../../../src/vocabulary/values/ticket-lists.ts';
import { announce } from '../../parts/announcer.tsx';
import { focusedRow } from '../../parts/keyboard-navigation.ts';
import { useShortcut } from '../../parts/shortcut.ts';
import { useCan } from '../../shell/profile.ts';
import type { SeenTicket, Ticket } from './tickets-query.ts';
import type { TicketsSearch } from './tickets-search.ts';
import type { Target } from './use-triage-actions.tsx';

/**
 * The selected tickets: `x` selects the focused row, Escape clears. `targets` are the tickets of an action: the selected
 * ones, else the focused row, else the open ticket.
 */
export function useSelection(tickets: readonly Ticket[], search: TicketsSearch) {
  const can = useCan()('connections:write');
  const [chosen, setChosen] = useState<ReadonlyMap<number, SeenTicket>>(new Map());
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
  const toggle = useCallback(
    (id: number) => {
      const ticket = tickets.find((one) => one.id === id);
      if (!ticket) return;
      setChosen((old) => {
        const next = new Map(old);
        if (!next.delete(id) && next.size < MOST_TICKETS) next.set(id, { id, version: ticket.version });
        return next;
      });
    },
    [tickets],
  );
  const clear = useCallback(() => setChosen(new Map()), []);
  const focused = () => tickets[focusedRow()];
  useShortcut('x', () => {
    const ticket = focused();
    if (!can || !ticket) return;
    toggle(ticket.id);
    announce(chosen.has(ticket.id) ? 'Not selected' : 'Selected');
  });
  // First it closes the open ticket.
  useShortcut('Escape', clear, !search.ticket && chosen.size > 0);
  const targets = (): readonly Target[] => {
    if (chosen.size > 0) {
      const shown = new Map(tickets.map((ticket) => [ticket.id, ticket]));
      // A ticket beyond the loaded pages was selected with the rest, in the version that it had then.
      return [...chosen.values()].map(
        (ticket) => shown.get(ticket.id) ?? { ...ticket, state: '', assignee: null },
      );
    }
    const row = focused();
    if (row) return [row];
    const open = queries.getQueryData<TicketDetail>(['tickets', 'one', search.ticket]);
    return open ? [open] : [];
  };
  const ids = useMemo(() => new Set(chosen.keys()), [chosen]);
  return {
    ids,
    toggle,
    clear,
    targets,
    select: (all: readonly SeenTicket[]) => setChosen(new Map(all.map((ticket) => [ticket.id, ticket]))),
  };
}
