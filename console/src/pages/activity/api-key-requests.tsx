import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { KeyRequests as Requests } from '../../../../src/console/keys/key-routes.ts';
import { get } from '../../api.ts';
import { figure } from '../../parts/figure.ts';
import { MoreButton } from '../../parts/more-button.tsx';
import { Loaded, Message } from '../../parts/states.tsx';
import { EntryList } from './entry-list.tsx';
import { useIsScrolledDown } from './is-scrolled-down.ts';
import { SingleEntry } from './single-entry.tsx';

interface KeyRequestsProps {
  id: string;
  /** The entry whose JSON is shown. */
  open: string | undefined;
}

/** The requests of one API key, latest first. The log is searched in steps, so a page may be empty. */
export function KeyRequests({ id, open }: KeyRequestsProps) {
  const isDown = useIsScrolledDown();
  const list = useInfiniteQuery({
    queryKey: ['activity', 'key', id],
    queryFn: ({ signal, pageParam }) =>
      get<Requests>(`/keys/${id}/requests`, { before_id: pageParam }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: ({ next_before_id }) => next_before_id,
    refetchInterval: ({ state }) => (isDown || (state.data?.pages.length ?? 0) > 1 ? false : 10_000),
  });
  const pages = list.data?.pages;
  const entries = useMemo(() => (pages ?? []).flatMap(({ data }) => data.map(entryOf)), [pages]);
  return (
    <Loaded query={list}>
      {() => (
        <>
          {open && !entries.some((entry) => String(entry.id) === open) && <SingleEntry id={Number(open)} />}
          {entries.length === 0 ? (
            <Message icon="activity" title={list.hasNextPage ? 'No recent requests' : 'No requests yet'}>
              {list.hasNextPage && 'There may be older requests further back in the log.'}
            </Message>
          ) : (
            <EntryList
              entries={entries}
              isOfOneKind
              isPartial
              onEnd={() => list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
              open={open}
            />
          )}
          <p className="quiet small">
            {figure(entries.length)} requests{list.hasNextPage && ' so far'}.{' '}
            <Link search={{ key: id }} to="/keys">
              Show key
            </Link>
          </p>
          <MoreButton list={list} />
        </>
      )}
    </Loaded>
  );
}

/** The part of an entry that the list shows; the full entry is loaded when it is opened. */
function entryOf({ id, occurred_at, page_path, method, status, source_ip }: Requests['data'][number]) {
  const properties = { method, status, actor: source_ip ?? undefined };
  return { id, occurred_at, page_path, action_type: 'api_request', properties };
}
