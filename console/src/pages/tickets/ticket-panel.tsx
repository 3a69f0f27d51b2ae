import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { TicketDetail } from '../../../../src/console/tickets/ticket.ts';
import { get } from '../../api.ts';
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
import { TicketLinks } from './ticket-links.tsx';
import { TicketTriage } from './ticket-triage.tsx';
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
  const query = useQuery({
    queryKey: ['tickets', 'one', id],
    queryFn: ({ signal }) => get<TicketDetail>(`/tickets/${id}`, {}, signal),
  });
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
      <TicketComments can={actions.can} commenting={commenting} ticketId={ticket.id} />
      <TicketChart ticket={ticket} />
      <ChangesBefore ticket={ticket} />
      <TicketLinks ticket={ticket} />
      <History ticket={ticket} />
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

function History({ ticket }: { ticket: TicketDetail }) {
  const { first_seen_at, reopened_at, last_seen_at, resolved_at, resolution } = ticket;
  const steps: (readonly [at: string, what: ReactNode])[] = [
    [first_seen_at, 'First found'],
    ...reopened_at.map((at) => [at, 'Reopened'] as const),
    resolved_at === null
      ? [last_seen_at, 'Last found']
      : [resolved_at, <>Resolved{resolution !== null && <bdi>: {resolution}</bdi>}</>],
  ];
  return (
    <div>
      <h3>History</h3>
      <ol className="ticket-history">
        {steps.map(([at, what], step) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two steps may have one instant
          <li key={step}>
            <span>{what}</span>
            <Time as="full" at={at} />
          </li>
        ))}
      </ol>
    </div>
  );
}
