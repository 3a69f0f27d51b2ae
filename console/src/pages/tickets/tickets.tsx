import './tickets.css';
import { type InfiniteData, keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { Meta, Ticket } from '../../../../client/src/records.ts';
import type { TicketStats } from '../../../../src/console/tickets/ticket-stats.ts';
import { get } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { ButtonLink } from '../../parts/button-link.tsx';
import { rangeEnd, rangeStart } from '../../parts/day.ts';
import { MoreButton } from '../../parts/more-button.tsx';
import { Page } from '../../parts/page.tsx';
import { Loaded, Message } from '../../parts/states.tsx';
import { duration } from '../../parts/time.tsx';
import { useCan } from '../../shell/profile.ts';
import { TicketFilters } from './ticket-filters.tsx';
import { TicketList, ticketLinkId } from './ticket-list.tsx';
import { TicketPanel } from './ticket-panel.tsx';
import type { TicketsSearch } from './tickets-search.ts';

/** The API's maximum; more pages load as the end of the list comes into view. */
const PER_PAGE = 100;
const RENEWED_MS = 60_000;

/** Later pages are pinned to the first entry of the first page. */
const firstPage: { page: number; to?: string | undefined } = { page: 1 };

interface TicketsPart {
  data: Ticket[];
  meta: Meta;
}

const isLong = ({ data }: { data: InfiniteData<TicketsPart> | undefined }) => (data?.pages.length ?? 0) > 3;

function useTickets({ status, severity, connection_id, from, to }: TicketsSearch) {
  const filters = {
    status: status === 'all' ? undefined : (status ?? 'open'),
    ...{ severity, connection_id, from: rangeStart(from), to: rangeEnd(to) },
  };
  return useInfiniteQuery({
    queryKey: ['tickets', 'list', filters],
    queryFn: ({ pageParam, signal }) =>
      get<TicketsPart>('/read/ops/tickets', { ...filters, ...pageParam, per_page: PER_PAGE }, signal),
    initialPageParam: firstPage,
    // Tickets opened since the first page must not shift the later pages.
    getNextPageParam: ({ meta }, [first]) =>
      meta.has_more ? { page: meta.page + 1, to: filters.to ?? first?.data[0]?.first_seen_at } : undefined,
    placeholderData: keepPreviousData,
    // A list that was scrolled far down is not refreshed page by page.
    refetchInterval: ({ state }) => (isLong(state) ? false : RENEWED_MS),
    refetchOnWindowFocus: ({ state }) => !isLong(state),
    select: ({ pages }) => ({
      // Two may have opened in the same millisecond.
      tickets: [...new Map(pages.flatMap(({ data }) => data).map((ticket) => [ticket.id, ticket])).values()],
      total: pages[0]?.meta.total ?? 0,
    }),
  });
}

function summary(stats: TicketStats): string {
  const { open_count, critical_open, solved_this_week, avg_hours_this_week } = stats;
  const average =
    avg_hours_this_week === null ? '' : `, on average after ${duration(avg_hours_this_week * 3600)}`;
  return `${open_count} open, ${critical_open} of them critical. ${solved_this_week} solved this week${average}.`;
}

/** The tickets of the account, open and resolved. */
export function TicketsPage() {
  const search = useSearch({ from: '/in/tickets' });
  const navigate = useNavigate({ from: '/tickets' });
  const list = useTickets(search);
  const stats = useQuery({
    queryKey: ['tickets', 'stats'],
    queryFn: ({ signal }) => get<TicketStats>('/tickets/stats', {}, signal),
    refetchInterval: RENEWED_MS,
  });
  const change = (changed: TicketsSearch) =>
    navigate({ search: (old) => ({ ...old, ticket: undefined, ...changed }), resetScroll: false });
  useFocusBack(search.ticket);
  return (
    <Page description={stats.data ? summary(stats.data) : 'What the health checks found.'} title="Tickets">
      <TicketFilters
        connectionName={list.data?.tickets[0]?.connection_name}
        onChange={change}
        search={search}
        stats={stats.data}
      />
      <div className={search.ticket ? 'list-with-panel with-panel' : 'list-with-panel'}>
        <div className="panel-list ticket-list">
          <Loaded query={list}>
            {({ tickets, total }) =>
              total === 0 ? (
                <NoTickets onAll={() => void navigate({ search: { status: 'all' } })} search={search} />
              ) : (
                <>
                  <p className="quiet small" role="status">
                    {total === 1 ? 'One ticket' : `${total.toLocaleString('en')} tickets`}
                  </p>
                  <TicketList
                    onEnd={() => list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
                    tickets={tickets}
                  />
                  <MoreButton list={list} />
                </>
              )
            }
          </Loaded>
        </div>
        {search.ticket && <TicketPanel id={search.ticket} onClose={() => void change({})} />}
      </div>
    </Page>
  );
}

/** Returns the focus to a ticket's row when the ticket is closed. */
function useFocusBack(open: string | undefined): void {
  const last = useRef(open);
  useEffect(() => {
    if (last.current && !open) document.getElementById(ticketLinkId(last.current))?.focus();
    last.current = open;
  }, [open]);
}

function NoTickets({ search, onAll }: { search: TicketsSearch; onAll: () => void }) {
  const { status, severity, connection_id, from, to } = search;
  const can = useCan();
  const watched = useQuery({
    queryKey: ['tickets', 'watched'],
    queryFn: ({ signal }) => get<{ meta: Meta }>('/read/health/connections', { per_page: 1 }, signal),
    enabled: can('health:read'),
  });
  if (severity || connection_id || from || to || status === 'resolved') {
    return (
      <Message
        actions={<Button onPress={onAll}>Show all tickets</Button>}
        icon="search"
        title="No ticket matches"
      >
        Try other filters.
      </Message>
    );
  }
  if (watched.data?.meta.total === 0) return <NoDatabases mayAdd={can('connections:write')} />;
  if (status === 'all') {
    return (
      <Message icon="tickets" title="No tickets yet">
        A health check opens a ticket when it finds a problem, and resolves it when the problem is gone.
      </Message>
    );
  }
  return (
    <Message
      actions={<Button onPress={onAll}>Show resolved tickets</Button>}
      icon="check"
      title="No open tickets"
    >
      A health check opens a ticket when it finds a problem.
    </Message>
  );
}

function NoDatabases({ mayAdd }: { mayAdd: boolean }) {
  return (
    <Message
      actions={
        mayAdd && (
          <ButtonLink icon="plus" kind="primary" to="/connections/new">
            Add connection
          </ButtonLink>
        )
      }
      icon="fleet"
      title="No databases yet"
    >
      Health checks open tickets. No connection is checked yet.
    </Message>
  );
}
