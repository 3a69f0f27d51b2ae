import { useQuery } from '@tanstack/react-query';
import type { Episodes } from '../../../../src/console-api/episodes/episode-schemas.ts';
import type { TicketDetail } from '../../../../src/console-api/tickets/ticket.ts';
import { BLOCKING_CHECKS } from '../../../../src/vocabulary/blocking-checks.ts';
import { read } from '../../api.ts';
import { EpisodeList } from '../../episodes/episode-list.tsx';
import { Loaded } from '../../parts/states.tsx';

/** The blocking episodes that went on while a ticket of blocked sessions was open. */
export function TicketEpisodes({ ticket: { id, check_id } }: { ticket: TicketDetail }) {
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
