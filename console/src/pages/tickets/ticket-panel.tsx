import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { TicketChanges } from '../../../../src/console-api/changes/change-schemas.ts';
import type { Episodes } from '../../../../src/console-api/episodes/episode-schemas.ts';
import type { TicketDetail } from '../../../../src/console-api/tickets/ticket.ts';
import { BLOCKING_CHECKS } from '../../../../src/vocabulary/blocking-checks.ts';
import { read } from '../../api.ts';
import { EpisodeList } from '../../episodes/episode-list.tsx';
import { FindingChart } from '../../measures/finding-chart.tsx';
import { ChangeList } from '../../parts/changes/change-list.tsx';
import { ChartGroup } from '../../parts/chart/chart-group.tsx';
import { rangeAround } from '../../parts/chart/chart-range.ts';
import { FindingExplanation } from '../../parts/finding-explanation.tsx';
import { FindingPlace } from '../../parts/finding-place.tsx';
import { Facts } from '../../parts/page.tsx';
import { PanelHeading, SidePanel } from '../../parts/side-panel.tsx';
import { Loaded } from '../../parts/states.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { Time, useNow } from '../../parts/time.tsx';
import { TicketComments } from './comments/ticket-comments.tsx';
import { ticketDuration } from './ticket-duration.ts';
import { TicketHistory } from './ticket-history.tsx';
import { TicketLinks } from './ticket-links.tsx';
import { TicketTriage } from './ticket-triage.tsx';
import { ticketQuery } from './tickets-query.ts';
import type { TriageActions } from './use-triage-actions.tsx';

interface TicketPanelProps {
  id: string;
  actions: TriageActions;
  /** How often the member asked to comment on it. */
  commenting: number;
  onClose: () => void;
}

/** A ticket beside the list, or instead of it on narrow screens: the finding, what to run, and its history. */
export function TicketPanel({ id, actions, commenting, onClose }: TicketPanelProps) {
  const query = useQuery(ticketQuery(id));
  return (
    <SidePanel id={id} kind="ticket" onClose={onClose}>
      <Loaded query={query}>
        {(ticket) => (
          <TicketContent actions={actions} commenting={commenting} key={ticket.id} ticket={ticket} />
        )}
      </Loaded>
    </SidePanel>
  );
}

interface ContentProps {
  ticket: TicketDetail;
  actions: TriageActions;
  commenting: number;
}

function TicketContent({ ticket, actions, commenting }: ContentProps) {
  return (
    <div className="panel-content">
      <div>
        <div className="panel-marks">
          <StatusMark status={ticket.severity} />
          <StatusMark status={ticket.state} />
        </div>
        <PanelHeading>{ticket.title}</PanelHeading>
        <FindingPlace of={ticket} />
      </div>
      <TicketTriage actions={actions} ticket={ticket} />
      <TicketFacts ticket={ticket} />
      <FindingExplanation {...ticket} />
      <TicketEpisodes ticket={ticket} />
      <TicketComments can={actions.can} commenting={commenting} ticketId={ticket.id} />
      <TicketChart ticket={ticket} />
      <ChangesBefore ticket={ticket} />
      <TicketLinks ticket={ticket} />
      <TicketHistory ticket={ticket} />
    </div>
  );
}

function TicketFacts({ ticket }: { ticket: TicketDetail }) {
  const { last_seen_at, resolved_at, reopened_at, check_id } = ticket;
  const took = ticketDuration(ticket, useNow());
  const isSilenced = ticket.resolution?.startsWith('silenced:') === true;
  const times = reopened_at.length;
  return (
    <Facts
      facts={[
        [resolved_at === null ? 'Open for' : isSilenced ? 'Silenced after' : 'Time to resolve', took],
        ['Last found', <Time at={last_seen_at} key="last" />],
        ['Reopened', times === 0 ? 'never' : times === 1 ? 'once' : `${times} times`],
        ['Check', <code key="check">{check_id}</code>],
      ]}
    />
  );
}

/** The history of the value that a ticket comes from, around the ticket. */
function TicketChart({ ticket }: { ticket: TicketDetail }) {
  const [search, setSearch] = useState(() => rangeAround(ticket.first_seen_at, ticket.resolved_at));
  if (ticket.connection_removed) return null;
  return (
    <ChartGroup onSearch={setSearch} search={search}>
      <FindingChart connectionId={String(ticket.connection_id)} finding={ticket} />
    </ChartGroup>
  );
}

/** The blocking episodes that went on while a ticket of blocked sessions was open. */
function TicketEpisodes({ ticket: { id, check_id } }: { ticket: TicketDetail }) {
  const isBlocking = BLOCKING_CHECKS.includes(check_id);
  const query = useQuery({
    enabled: isBlocking,
    ...read<Episodes>(`/tickets/${id}/episodes`),
  });
  if (!isBlocking) return null;
  return (
    <div>
      <h3>Blocking episodes</h3>
      <Loaded query={query}>
        {({ episodes }) =>
          episodes.length === 0 ? (
            <p className="quiet">The pulse saw no session that blocked others.</p>
          ) : (
            <EpisodeList episodes={episodes} label="Sessions that blocked others" />
          )
        }
      </Loaded>
    </div>
  );
}

type Ticket = Pick<TicketDetail, 'id' | 'connection_id' | 'connection_removed'>;

/** What changed in the 24 hours before a ticket was opened. */
function ChangesBefore({ ticket: { id, connection_id, connection_removed } }: { ticket: Ticket }) {
  const query = useQuery(read<TicketChanges>(`/tickets/${id}/changes`));
  return (
    <div>
      <h3>Changes in the 24 hours before</h3>
      <Loaded query={query}>
        {({ changes, more, from, to }) => (
          <>
            <ChangeList
              empty={<p className="quiet">Nothing changed.</p>}
              changes={changes}
              label="Changes in the 24 hours before"
            />
            {more && !connection_removed && (
              <p>
                <Link
                  params={{ id: String(connection_id) }}
                  search={{ tab: 'changes', from, to }}
                  to="/connections/$id"
                >
                  Show all changes of the connection
                </Link>
              </p>
            )}
          </>
        )}
      </Loaded>
    </div>
  );
}
