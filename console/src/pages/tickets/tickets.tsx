import './tickets.css';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Meta } from '../../../../client/src/records.ts';
import type { TicketCounts } from '../../../../src/console-api/tickets/ticket-list.ts';
import type { TicketStats } from '../../../../src/console-api/tickets/ticket-stats.ts';
import { MOST_TICKETS } from '../../../../src/vocabulary/ticket-lists.ts';
import { read } from '../../api.ts';
import { notifyFailure } from '../../parts/announcer.tsx';
import { Button } from '../../parts/button.tsx';
import { ButtonLink } from '../../parts/button-link.tsx';
import { useFocusBack } from '../../parts/focus-back.ts';
import { MoreButton } from '../../parts/more-button.tsx';
import { Page } from '../../parts/page.tsx';
import { SavedViews } from '../../parts/saved-views.tsx';
import { SelectionContext } from '../../parts/selection.tsx';
import { useShortcut } from '../../parts/shortcut.ts';
import { InlineError, Loaded, Message } from '../../parts/states.tsx';
import { duration } from '../../parts/time.tsx';
import { useCan } from '../../shell/profile.ts';
import { BulkBar } from './bulk-bar.tsx';
import { filterCounts } from './ticket-counts.ts';
import { isNarrowed, TicketFilters } from './ticket-filters.tsx';
import { TicketList } from './ticket-list.tsx';
import { TicketPanel } from './ticket-panel.tsx';
import { getIds, type Ticket, useCounts, useStats, useTickets } from './tickets-query.ts';
import { type TicketsSearch, ticketsSearch } from './tickets-search.ts';
import { useSelection } from './use-selection.ts';
import { useTriageActions } from './use-triage-actions.tsx';

/** The numbers of the filters, and what was solved. */
function summary(rows: TicketCounts['data'], stats: TicketStats): string {
  const { solved_this_week, avg_hours_this_week } = stats;
  const { list, severity } = filterCounts(rows, {});
  const [open, severe, snoozed] = [list('open'), severity('critical'), list('snoozed')];
  const average =
    avg_hours_this_week === null ? '' : `, on average after ${duration(avg_hours_this_week * 3600)}`;
  const critical = severe === 0 ? '' : ` (${severe} critical)`;
  const away = snoozed === 0 ? '' : `, ${snoozed} snoozed`;
  return `${open} open${critical}${away}. ${solved_this_week} resolved this week${average}.`;
}

const NONE: readonly Ticket[] = [];

/** The tickets of the account: what is found, who works on it, and what was put off. */
export function TicketsPage() {
  const search = useSearch({ from: '/in/tickets' });
  const navigate = useNavigate({ from: '/tickets' });
  const list = useTickets(search);
  const stats = useStats();
  const counts = useCounts(search);
  const tickets = list.data?.tickets ?? NONE;
  const selection = useSelection(tickets, search);
  const actions = useTriageActions(selection.targets, selection.clear);
  const change = (changed: TicketsSearch) =>
    navigate({ search: (old) => ({ ...old, ticket: undefined, ...changed }), resetScroll: false });
  const focusBack = useFocusBack(search.ticket, 'ticket');
  const [commenting, setCommenting] = useState({ id: '', times: 0 });
  useShortcut('c', () => {
    const [ticket, ...more] = selection.targets();
    if (!ticket || more.length > 0 || !actions.can) return;
    const id = String(ticket.id);
    setCommenting(({ times }) => ({ id, times: times + 1 }));
    void navigate({ search: (old) => ({ ...old, ticket: id }), resetScroll: false });
  });
  const close = () => {
    setCommenting({ id: '', times: 0 });
    focusBack();
    void change({});
  };
  const { ticket: _, ...viewed } = search;
  return (
    <Page
      actions={
        <SavedViews
          mayShare={actions.can}
          onOpen={(view) => void navigate({ search: ticketsSearch(view) })}
          page="tickets"
          search={viewed}
        />
      }
      description={
        stats.data && counts.data ? summary(counts.data.data, stats.data) : 'What the health checks found.'
      }
      title="Tickets"
    >
      <TicketFilters connectionName={tickets[0]?.connection_name} onChange={change} search={search} />
      <InlineError error={actions.error} />
      <div className={search.ticket ? 'list-with-panel with-panel' : 'list-with-panel'}>
        <div className="panel-list ticket-list">
          <Loaded query={list}>
            {({ total, limited }) =>
              total === 0 ? (
                <NoTickets onAll={() => void navigate({ search: { status: 'all' } })} search={search} />
              ) : (
                <SelectionContext value={selection}>
                  <p className="quiet small" role="status">
                    {total === 1 ? 'One ticket' : `${total.toLocaleString('en')} tickets`}
                    {limited && ', the newest. Choose a connection or days to see older ones.'}
                  </p>
                  <TicketList
                    canSelect={actions.can}
                    onChange={change}
                    pages={list}
                    search={search}
                    tickets={tickets}
                  />
                  <MoreButton list={list} />
                  {selection.ids.size > 0 && (
                    <BulkBar
                      count={selection.ids.size}
                      isPending={actions.isPending}
                      most={MOST_TICKETS}
                      onAction={actions.start}
                      onAll={() => {
                        const select = selection.selectLater();
                        void getIds(search).then(
                          ({ data }) => select(data),
                          (error: Error) => notifyFailure(`Not selected. ${error.message}`),
                        );
                      }}
                      onClear={selection.clear}
                      total={total}
                    />
                  )}
                </SelectionContext>
              )
            }
          </Loaded>
        </div>
        {search.ticket && (
          <TicketPanel
            actions={actions}
            commenting={commenting.id === search.ticket ? commenting.times : 0}
            id={search.ticket}
            onClose={close}
          />
        )}
      </div>
      {actions.dialog}
    </Page>
  );
}

function NoTickets({ search, onAll }: { search: TicketsSearch; onAll: () => void }) {
  const { status, severity } = search;
  const can = useCan();
  const watched = useQuery({
    ...read<{ meta: Meta }>('/read/health/connections', { per_page: 1 }),
    queryKey: ['tickets', 'watched'],
    enabled: can('health:read'),
  });
  if (severity || isNarrowed(search) || !['open', 'all', undefined].includes(status)) {
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
      Health checks open tickets. No connection has been checked yet.
    </Message>
  );
}
