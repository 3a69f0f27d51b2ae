import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ActivityEntry } from '../../../../client/src/records.ts';
import { read } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { Section } from '../../parts/page.tsx';
import { Loaded, SkeletonRows } from '../../parts/states.tsx';
import { EntryDetail } from './entry-detail.tsx';

/** An entry named in the URL that is not in the list, or not yet. */
export function SingleEntry({ id }: { id: number }) {
  const navigate = useNavigate({ from: '/activity' });
  const close = () => void navigate({ search: (old) => ({ ...old, entry: undefined }), resetScroll: false });
  return (
    <Section actions={<Button onPress={close}>Close</Button>} title={`Entry ${id}`}>
      <EntryById id={id} />
    </Section>
  );
}

/** Loads one entry by its id and shows it in full. */
function EntryById({ id }: { id: number }) {
  const query = useQuery({
    ...read<{ data: ActivityEntry[] }>('/read/activity', {
      order: 'asc',
      after_id: id - 1,
      per_page: 1,
    }),
    queryKey: ['activity', 'one', id],
  });
  return (
    <Loaded query={query} skeleton={<SkeletonRows rows={2} />}>
      {({ data: [entry] }) =>
        entry?.id === id ? (
          <EntryDetail entry={entry} />
        ) : (
          <p>The log holds no entry {id}: it is not written yet, or it is older than the retention period.</p>
        )
      }
    </Loaded>
  );
}
