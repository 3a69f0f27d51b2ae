import { useQuery } from '@tanstack/react-query';
import type { Episodes } from '../../../../src/console-api/episodes/episode-schemas.ts';
import { read } from '../../api.ts';
import { OpenEpisodes, PastEpisodes } from '../../episodes/episode-list.tsx';
import { Section } from '../../parts/page.tsx';
import { Loaded } from '../../parts/states.tsx';

/** How often the page asks: as often as a calm pulse looks, and as a close look while an episode goes on. */
const RENEWED_MS = { calm: 10_000, blocked: 1_000 };

function useEpisodes(connectionId: string) {
  return useQuery({
    ...read<Episodes>(`/connections/${encodeURIComponent(connectionId)}/episodes`),
    refetchInterval: ({ state: { data } }) =>
      data?.episodes.some(({ ended_at }) => ended_at === null) ? RENEWED_MS.blocked : RENEWED_MS.calm,
  });
}

/** Who blocks whom now, with what to run; nothing while nobody does. */
export function BlockingNow({ connectionId }: { connectionId: string }) {
  const { data } = useEpisodes(connectionId);
  if (!data?.episodes.some(({ ended_at }) => ended_at === null)) return null;
  return (
    <section aria-label="Blocked now" className="episodes">
      <OpenEpisodes episodes={data.episodes} />
    </section>
  );
}

/** Who blocked whom in the last seven days. */
export function Blocking({ connectionId }: { connectionId: string }) {
  const query = useEpisodes(connectionId);
  return (
    <Section
      description="Sessions that blocked others for 2 seconds or more in the last 7 days. Kept for 90 days."
      title="Blocking"
    >
      <Loaded query={query}>
        {({ episodes, more }) =>
          episodes.length === 0 ? (
            <p className="quiet">No session has blocked others.</p>
          ) : (
            <>
              <PastEpisodes episodes={episodes} label="Sessions that blocked others" />
              {more && <p className="quiet">These are the newest; there are more.</p>}
            </>
          )
        }
      </Loaded>
    </Section>
  );
}
