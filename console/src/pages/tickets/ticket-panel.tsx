import { useQuery } from '@tanstack/react-query';
import type { TicketDetail } from '../../../../src/console-api/tickets/ticket.ts';
import { FindingExplanation } from '../../parts/finding-explanation.tsx';
import { FindingPlace } from '../../parts/finding-place.tsx';
import { Facts } from '../../parts/page.tsx';
import { PanelHeading, SidePanel } from '../../parts/side-panel.tsx';
import { Loaded } from '../../parts/states.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { Time, useNow } from '../../parts/time.tsx';
import { TicketComments } from './comments/ticket-comments.tsx';
import { ChangesBefore } from './ticket-changes.tsx';
import { TicketChart } from './ticket-chart.tsx';
import { ticketDuration } from './ticket-duration.ts';
import { TicketEpisodes } from './ticket-episodes.tsx';
import { TicketHistory } from './ticket-history.tsx';
import { TicketLinks } from './ticket-links.tsx';
import { TicketTriage } from './ticket-triage.tsx';
import { ticketQuery } from './tickets-query.ts';
import type { TriageActions } from './use-triage-actions.tsx';

/** A ticket beside the list, or instead of it on narrow screens: the finding, what to run, and its history. */
export function TicketPanel({
  id,
  actions,
  commenting,
  onClose,
}: {
  id: string;
  actions: TriageActions;
  /** How often the member asked to comment on it. */
  commenting: number;
  onClose: () => void;
}) {
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
