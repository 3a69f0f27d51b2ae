import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { SearchedEntries } from '../../../../src/console-api/activity/activity-routes.ts';
import { get } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { figure } from '../../parts/figure.ts';
import { Loaded, Message } from '../../parts/states.tsx';
import { Time } from '../../parts/time.tsx';
import { type ActivitySearch, filterQuery } from './activity-search.ts';
import { EntryList } from './entry-list.tsx';
import { SingleEntry } from './single-entry.tsx';

/** The entries that match filters for which the log has no index. It is searched in steps, so a step may find nothing. */
export function SearchedLog({ search }: { search: ActivitySearch }) {
  const filter = filterQuery(search);
  const list = useInfiniteQuery({
    queryKey: ['activity', 'search', filter],
    queryFn: ({ signal, pageParam }) =>
      get<SearchedEntries>('/activity/search', { ...filter, before_id: pageParam }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: ({ next_before_id }) => next_before_id,
  });
  const pages = list.data?.pages;
  const entries = useMemo(() => (pages ?? []).flatMap(({ data }) => data), [pages]);
  const searchedTo = pages?.at(-1)?.searched_to ?? null;
  const { entry: open } = search;
  const goOn = list.hasNextPage && (
    <Button isPending={list.isFetchingNextPage} onPress={() => void list.fetchNextPage()}>
      Search further back
    </Button>
  );
  return (
    <Loaded query={list}>
      {() => (
        <>
          {open && !entries.some(({ id }) => String(id) === open) && <SingleEntry id={Number(open)} />}
          {entries.length === 0 ? (
            <Message
              actions={goOn}
              icon="search"
              title={searchedTo === null ? 'No entry matches' : 'No entry found so far'}
            >
              {searchedTo === null ? (
                'The whole log was searched. Try other filters.'
              ) : (
                <>
                  The log was searched back to <Time as="local" at={searchedTo} seconds />.
                </>
              )}
            </Message>
          ) : (
            <>
              <EntryList entries={entries} isFiltered pages={list} open={open} />
              <p className="quiet small" role="status">
                {entries.length === 1 ? 'One entry' : `${figure(entries.length)} entries`}
                {searchedTo === null ? (
                  ' in the whole log.'
                ) : (
                  <>
                    {' '}
                    so far. Searched back to <Time as="local" at={searchedTo} seconds />.
                  </>
                )}
              </p>
              {goOn && <div>{goOn}</div>}
            </>
          )}
        </>
      )}
    </Loaded>
  );
}
