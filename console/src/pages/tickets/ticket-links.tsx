import { Link } from '@tanstack/react-router';
import type { TicketDetail } from '../../../../src/console-api/tickets/ticket.ts';
import { COMPARED } from '../../parts/compared-fragment.ts';
import { findingAnchor } from '../../parts/finding-anchor.ts';
import { StatusMark } from '../../parts/status-mark.tsx';
import { Time } from '../../parts/time.tsx';

const DAY_MS = 86_400_000;

/** Where to look on: the finding, the runs and changes around the ticket, alerts of its time, and tickets of the same finding. */
export function TicketLinks({ ticket }: { ticket: TicketDetail }) {
  const { connection_id, connection_removed, first_seen_at, resolved_at, others, runs, alerts } = ticket;
  const params = { id: String(connection_id) };
  const from = new Date(Date.parse(first_seen_at) - DAY_MS).toISOString();
  const range = resolved_at === null ? { from } : { from, to: resolved_at };
  return (
    <div className="ticket-links">
      <h3>Related</h3>
      <ul>
        {!connection_removed && (
          <>
            <li>
              <Link params={params} search={{ finding: findingAnchor(ticket) }} to="/connections/$id">
                Finding on the connection’s page
              </Link>
            </li>
            {runs && (
              <li>
                <Link
                  hash={COMPARED}
                  params={params}
                  search={{ compare: `${runs.before}-${runs.opened}` }}
                  to="/connections/$id"
                >
                  Run that found it, compared with the run before
                </Link>
              </li>
            )}
            <li>
              <Link params={params} search={range} to="/connections/$id">
                Charts from that time
              </Link>
            </li>
          </>
        )}
        {alerts.map(({ id, rule_name, state, triggered_at }) => (
          <li key={`alert ${id}`}>
            <StatusMark quiet status={state} word="Alert" />{' '}
            <Link
              search={{ alert: String(id), ...(state === 'resolved' && { view: 'resolved' }) }}
              to="/alerts"
            >
              <bdi>{rule_name}</bdi>
            </Link>{' '}
            <Time at={triggered_at} />
          </li>
        ))}
        {others.map((other) => (
          <li key={`ticket ${other.id}`}>
            <StatusMark quiet status={other.resolved_at === null ? 'open' : 'resolved'} word="Same finding" />{' '}
            <Link from="/tickets" search={(old) => ({ ...old, ticket: String(other.id) })} to="/tickets">
              Ticket {other.id}
            </Link>{' '}
            <Time at={other.first_seen_at} />
          </li>
        ))}
      </ul>
    </div>
  );
}
