import { useState } from 'react';
import type { TicketDetail } from '../../../../src/console-api/tickets/ticket.ts';
import { FindingChart } from '../../measures/finding-chart.tsx';
import { ChartGroup } from '../../parts/chart/chart-group.tsx';
import { rangeAround } from '../../parts/chart/chart-range.ts';

/** The history of the value that a ticket comes from, around the ticket. */
export function TicketChart({ ticket }: { ticket: TicketDetail }) {
  const [search, setSearch] = useState(() => rangeAround(ticket.first_seen_at, ticket.resolved_at));
  if (ticket.connection_removed) return null;
  return (
    <ChartGroup onSearch={setSearch} search={search}>
      <FindingChart connectionId={String(ticket.connection_id)} finding={ticket} />
    </ChartGroup>
  );
}
