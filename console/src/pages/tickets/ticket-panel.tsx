import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import type { TicketDetail } from '../../../../src/console/tickets/ticket.ts';
import { get } from '../../api.ts';
import { IconButton } from '../../parts/button.tsx';
import { FindingExplanation } from '../../parts/finding-explanation.tsx';
import { Facts } from '../../parts/page.tsx';
import { useShortcut } from '../../parts/shortcut.ts';
import { Loaded } from '../../parts/states.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { Time, useNow } from '../../parts/time.tsx';
import { ChangesBefore } from './ticket-changes.tsx';
import { TicketChart } from './ticket-chart.tsx';
import { ticketDuration } from './ticket-duration.ts';

/** Wide enough for the list and a ticket; the same width as in tickets.css. */
const BESIDE = '(width > 72rem)';

/** A ticket beside the list, or instead of it on narrow screens: the finding, what to run, and its history. */
export function TicketPanel({ id, onClose }: { id: string; onClose: () => void }) {
  const query = useQuery({
    queryKey: ['tickets', 'one', id],
    queryFn: ({ signal }) => get<TicketDetail>(`/tickets/${id}`, {}, signal),
  });
  useShortcut('Escape', onClose);
  return (
    <section aria-label={`Ticket ${id}`} className="ticket-panel">
      <div className="panel-close">
        <span className="quiet small">Ticket {id}</span>
        <IconButton icon="close" label="Close ticket" onPress={onClose} />
      </div>
      <Loaded query={query}>{(ticket) => <TicketContent key={ticket.id} ticket={ticket} />}</Loaded>
    </section>
  );
}

function TicketContent({ ticket }: { ticket: TicketDetail }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus({ preventScroll: true });
    // The ticket replaces the list, which may be scrolled far down.
    if (!matchMedia(BESIDE).matches) scrollTo(0, 0);
  }, []);
  return (
    <div className="panel-content">
      <div>
        <div className="panel-marks">
          <StatusMark status={ticket.severity} />
          <StatusMark status={ticket.status} />
        </div>
        <h2 ref={heading} tabIndex={-1}>
          <bdi>{ticket.title}</bdi>
        </h2>
        <Place ticket={ticket} />
      </div>
      <TicketFacts ticket={ticket} />
      <FindingExplanation {...ticket} />
      <TicketChart ticket={ticket} />
      <ChangesBefore ticket={ticket} />
      <History ticket={ticket} />
    </div>
  );
}

function Place({ ticket }: { ticket: TicketDetail }) {
  const { connection_id, connection_name, connection_removed, database, object } = ticket;
  return (
    <p className="quiet">
      {connection_removed ? (
        <>
          <bdi>{connection_name}</bdi> (removed)
        </>
      ) : (
        <Link params={{ id: String(connection_id) }} to="/connections/$id">
          <bdi>{connection_name}</bdi>
        </Link>
      )}
      {database && (
        <>
          {' · '}database <bdi className="mono">{database}</bdi>
        </>
      )}
      {object !== null && (
        <>
          {' · '}
          <bdi className="mono">{object}</bdi>
        </>
      )}
    </p>
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
