import { Link } from '@tanstack/react-router';
import { SEVERITIES } from '../../../../src/vocabulary/severities.ts';
import { TICKET_SORTS, TICKET_STATES, type TicketSort } from '../../../../src/vocabulary/ticket-lists.ts';
import { counted } from '../../parts/figure.ts';
import type { Pages } from '../../parts/more-button.tsx';
import { readableLine } from '../../parts/readable-text.ts';
import { RowPlace } from '../../parts/row-place.tsx';
import { SelectBox } from '../../parts/selection.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { type Column, type Sort, Table } from '../../parts/table.tsx';
import { local, Time, useNow } from '../../parts/time.tsx';
import { escapeTurning } from '../../parts/visible-text.ts';
import { ticketDuration } from './ticket-duration.ts';
import type { Ticket } from './tickets-query.ts';
import { type TicketsSearch, usualSort } from './tickets-search.ts';

function TicketLink({ ticket }: { ticket: Ticket }) {
  const { id, title, severity, assignee, metric_line, comments, connection_name, group } = ticket;
  // The heading of the group says it already.
  const isTitleRepeated = title === group?.label;
  const isConnectionNamed = connection_name === group?.label;
  return (
    <>
      <Link
        className="row-link"
        from="/tickets"
        id={`ticket-${id}`}
        resetScroll={false}
        search={(old) => ({ ...old, ticket: String(id) })}
        to="/tickets"
      >
        <bdi className={isTitleRepeated ? 'hidden-text' : ''}>{title}</bdi>
        {isTitleRepeated && <RowPlace of={ticket} />}
      </Link>
      {!isTitleRepeated && <RowPlace isConnectionNamed={isConnectionNamed} of={ticket} />}
      <span className="row-measured">
        <bdi>{readableLine(metric_line)}</bdi>
        {comments > 0 && <span className="row-comments">{counted(comments, 'comment')}</span>}
      </span>
      <span className="row-marks">
        <StatusMark quiet status={severity} />
        <State ticket={ticket} />
        {assignee && <bdi className="small">{assignee.name}</bdi>}
      </span>
    </>
  );
}

function State({ ticket }: { ticket: Ticket }) {
  const { state, resolved_at, until } = ticket;
  const took = ticketDuration(ticket, useNow());
  return (
    <span className="ticket-state">
      <StatusMark quiet status={state} />
      <span className="quiet small">
        {until === null ? `${resolved_at === null ? 'for' : 'after'} ${took}` : <>until {local(until)}</>}
      </span>
    </span>
  );
}

const SELECT: Column<Ticket> = {
  header: 'Selected',
  hideHeader: true,
  cell: (ticket) => <SelectBox id={ticket.id} label={`ticket ${ticket.id}: ${ticket.title}`} />,
  width: '1.75rem',
  narrow: 'corner',
};

// On narrow screens the first cell shows everything.
const COLUMNS: readonly Column<Ticket>[] = [
  {
    id: 'severity',
    header: 'Severity',
    cell: ({ severity }) => <StatusMark quiet status={severity} />,
    width: '6.5rem',
    narrow: 'hide',
    isSortable: true,
  },
  {
    id: 'title',
    header: 'Ticket',
    cell: (ticket) => <TicketLink ticket={ticket} />,
    narrow: 'lead',
    isSortable: true,
  },
  {
    id: 'assignee',
    header: 'Assignee',
    cell: ({ assignee }) => assignee && <bdi className="two-lines">{assignee.name}</bdi>,
    width: '8rem',
    narrow: 'hide',
    isSortable: true,
  },
  {
    header: 'State',
    cell: (ticket) => <State ticket={ticket} />,
    width: '9rem',
    narrow: 'hide',
  },
  {
    id: 'first_seen',
    header: 'First seen',
    cell: ({ first_seen_at }) => <Time at={first_seen_at} />,
    width: '7.75rem',
    narrow: 'hide',
    isSortable: true,
  },
];
const SELECTABLE = [SELECT, ...COLUMNS];

/** The groups of tickets without one. */
const NONE: Readonly<Record<string, string>> = { tags: 'No tags', environment: 'No environment' };

interface TicketListProps {
  tickets: readonly Ticket[];
  search: TicketsSearch;
  canSelect: boolean;
  onChange: (changed: TicketsSearch) => void;
  pages: Pages;
}

/** Tickets in the order of the URL, with a heading at the beginning of each group. */
export function TicketList({ tickets, search, canSelect, onChange, pages }: TicketListProps) {
  const { sort = usualSort(search), reverse } = search;
  const isUp = (TICKET_SORTS[sort] === 'asc') !== (reverse === '1');
  const onSort = ({ column, descending }: Sort) => {
    const id = column as TicketSort;
    // A first press gives the usual order of a column.
    const isReversed = id === sort && descending !== (TICKET_SORTS[id] === 'desc');
    onChange({ sort: id === usualSort(search) ? undefined : id, reverse: isReversed ? '1' : undefined });
  };
  return (
    <Table
      columns={canSelect ? SELECTABLE : COLUMNS}
      hasKeyboardNavigation
      heading={(ticket, before) =>
        isFirst(ticket, before) && (
          <GroupHeading none={NONE[search.group ?? ''] ?? 'Nobody'} ticket={ticket} />
        )
      }
      label="Tickets"
      pages={pages}
      onSort={onSort}
      rowHeight={77}
      rowKey={({ id }) => id}
      rows={tickets}
      sort={{ column: sort, descending: !isUp }}
    />
  );
}

function isFirst({ group }: Ticket, before: Ticket | undefined): boolean {
  return group !== null && (before === undefined || before.group?.key !== group.key);
}

const MARKS = [...SEVERITIES, ...TICKET_STATES];

/** The name of a group and its size; `none` names that of the tickets without one. */
function GroupHeading({ ticket: { group }, none }: { ticket: Ticket; none: string }) {
  const mark = MARKS.find((word) => word === group?.label);
  return (
    <>
      {mark ? (
        <StatusMark quiet status={mark} />
      ) : (
        <bdi className="one-line">{escapeTurning(group?.label ?? none)}</bdi>
      )}
      <span className="quiet">
        {group?.size.toLocaleString('en')}
        <span className="hidden-text">{group?.size === 1 ? ' ticket' : ' tickets'}</span>
      </span>
    </>
  );
}
