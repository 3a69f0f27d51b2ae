import { useState } from 'react';
import type { TicketDetail } from '../../../../src/console-api/tickets/ticket.ts';
import { FindingChart } from '../../measures/finding-chart.tsx';
import { ChartGroup } from '../../parts/chart/chart-group.tsx';
import { type RangeSearch, searchOf } from '../../parts/chart/chart-range.ts';

const HOUR = 3_600;

/** From a day before the ticket was opened until an hour after it was resolved, or until now. */
function spanOfTicket({ first_seen_at, resolved_at }: TicketDetail): RangeSearch {
  const from = Date.parse(first_seen_at) / 1_000 - 24 * HOUR;
  if (resolved_at === null) return { from: new Date(from * 1_000).toISOString() };
  return searchOf({ from, to: Date.parse(resolved_at) / 1_000 + HOUR });
}

/** The history of the value that a ticket comes from, around the ticket. */
export function TicketChart({ ticket }: { ticket: TicketDetail }) {
  const [search, setSearch] = useState(() => spanOfTicket(ticket));
  if (ticket.connection_removed) return null;
  return (
    <ChartGroup onSearch={setSearch} search={search}>
      <FindingChart connectionId={String(ticket.connection_id)} finding={ticket} />
    </ChartGroup>
  );
}
