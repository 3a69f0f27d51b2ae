import { Link } from '@tanstack/react-router';
import type { Ticket } from '../../../../client/src/records.ts';
import { RowPlace } from '../../parts/row-place.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Time, useNow } from '../../parts/time.tsx';
import { ticketDuration } from './ticket-duration.ts';

/** The id of a row's link, to which the focus returns. */
export function ticketLinkId(id: number | string): string {
  return `ticket-${id}`;
}

function TicketLink({ ticket }: { ticket: Ticket }) {
  const { id, title, severity } = ticket;
  return (
    <>
      <Link
        className="row-link"
        from="/tickets"
        id={ticketLinkId(id)}
        resetScroll={false}
        search={(old) => ({ ...old, ticket: String(id) })}
        to="/tickets"
      >
        <bdi>{title}</bdi>
      </Link>
      <RowPlace of={ticket} />
      <span className="row-marks">
        <StatusMark quiet status={severity} />
        <State ticket={ticket} />
      </span>
    </>
  );
}

function State({ ticket }: { ticket: Ticket }) {
  const { status, resolved_at } = ticket;
  const took = ticketDuration(ticket, useNow());
  return (
    <span className="ticket-state">
      <StatusMark quiet status={status} />
      <span className="quiet small">
        {resolved_at === null ? 'for' : 'after'} {took}
      </span>
    </span>
  );
}

// On narrow screens the first cell shows everything.
const COLUMNS: readonly Column<Ticket>[] = [
  {
    id: 'severity',
    header: 'Severity',
    cell: ({ severity }) => <StatusMark quiet status={severity} />,
    width: '6.5rem',
    narrow: 'hide',
  },
  { id: 'title', header: 'Ticket', cell: (ticket) => <TicketLink ticket={ticket} />, narrow: 'lead' },
  {
    id: 'status',
    header: 'State',
    cell: (ticket) => <State ticket={ticket} />,
    width: '9rem',
    narrow: 'hide',
  },
  {
    id: 'first_seen_at',
    header: 'First seen',
    cell: ({ first_seen_at }) => <Time at={first_seen_at} />,
    width: '8rem',
    narrow: 'hide',
  },
];

/** Tickets, latest first, as the API lists them. */
export function TicketList({ tickets, onEnd }: { tickets: readonly Ticket[]; onEnd: () => void }) {
  return (
    <Table
      columns={COLUMNS}
      hasKeyboardNavigation
      label="Tickets"
      onEnd={onEnd}
      rowHeight={57}
      rowKey={({ id }) => id}
      rows={tickets}
    />
  );
}
