import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { TicketChanges } from '../../../../src/console-api/changes/change-schemas.ts';
import type { TicketDetail } from '../../../../src/console-api/tickets/ticket.ts';
import { read } from '../../api.ts';
import { ChangeList } from '../../parts/changes/change-list.tsx';
import { Loaded } from '../../parts/states.tsx';

type Ticket = Pick<TicketDetail, 'id' | 'connection_id' | 'connection_removed'>;

/** What changed in the 24 hours before a ticket was opened. */
export function ChangesBefore({ ticket: { id, connection_id, connection_removed } }: { ticket: Ticket }) {
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
