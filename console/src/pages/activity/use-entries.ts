import {
  type InfiniteData,
  keepPreviousData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import type { ActivityEntry, Meta } from '../../../../client/src/records.ts';
import { get } from '../../api.ts';
import { rangeEnd, rangeStart } from '../../parts/day.ts';
import type { ActivitySearch } from './activity-search.ts';

/** The API's maximum. */
const PER_PAGE = 100;
const TAIL_EVERY_MS = 2_000;
/** The most pages to fetch per poll on a busy log. */
const TAIL_PAGES = 10;
/** The longest tail; past it the list restarts with the newest entries. */
const TAIL_MOST = 2_000;

interface EntriesPart {
  data: ActivityEntry[];
  meta: Meta;
}

/** Later pages are pinned to the first entry of the first page. */
const firstPage: { page: number; to?: string | undefined } = { page: 1 };
const isLong = ({ data }: { data: InfiniteData<EntriesPart> | undefined }) => (data?.pages.length ?? 0) > 3;

/** The log, latest first. While `isLive`, new entries are added without gaps. */
export function useEntries({ action_type, from, to }: ActivitySearch, isLive: boolean) {
  const filters = { action_type, from: rangeStart(from), to: rangeEnd(to) };
  const queries = useQueryClient();
  const listKey = ['activity', 'list', filters];
  const list = useInfiniteQuery({
    queryKey: listKey,
    queryFn: ({ pageParam, signal }) =>
      get<EntriesPart>('/read/activity', { ...filters, ...pageParam, per_page: PER_PAGE }, signal),
    initialPageParam: firstPage,
    getNextPageParam: ({ meta }, [first]) =>
      meta.has_more ? { page: meta.page + 1, to: filters.to ?? first?.data[0]?.occurred_at } : undefined,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: ({ state }) => !isLong(state),
  });
  const pages = list.data?.pages;
  const newest = pages?.[0]?.data[0]?.id ?? 0;
  // Keyed by the newest entry: after a reload, entries may lie between the list and an old tail.
  const tailKey = ['activity', 'tail', filters, newest];
  const tail = useQuery({
    queryKey: tailKey,
    queryFn: ({ signal }) =>
      follow(queries.getQueryData<ActivityEntry[]>(tailKey) ?? [], newest, filters, signal),
    enabled: isLive && list.data !== undefined && !list.isPlaceholderData,
    refetchInterval: TAIL_EVERY_MS,
    staleTime: 0,
    gcTime: 0,
  });
  const isTooLong = (tail.data?.length ?? 0) > TAIL_MOST;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once each time that it became too long
  useEffect(() => {
    if (!isTooLong) return;
    queries.setQueryData<InfiniteData<EntriesPart>>(
      listKey,
      (old) => old && { pages: old.pages.slice(0, 1), pageParams: old.pageParams.slice(0, 1) },
    );
    void list.refetch();
  }, [isTooLong]);
  const entries = useMemo(() => joined(pages ?? [], tail.data ?? []), [pages, tail.data]);
  return {
    list,
    tailError: isLive ? tail.error : null,
    entries,
    total: list.data?.pages[0]?.meta.total ?? 0,
  };
}

/** All loaded entries, latest first, each once: a tail and a page that were loaded at different times may overlap. */
function joined(pages: readonly EntriesPart[], tail: readonly ActivityEntry[]): ActivityEntry[] {
  const entries = tail.toReversed();
  for (const { data } of pages) {
    const last = entries.at(-1)?.id ?? Number.POSITIVE_INFINITY;
    entries.push(...data.filter(({ id }) => id < last));
  }
  return entries;
}

/** The known tail, oldest first, plus the entries written since. */
async function follow(
  known: ActivityEntry[],
  newest: number,
  filters: { action_type: string | undefined; from: string | undefined },
  signal: AbortSignal,
): Promise<ActivityEntry[]> {
  const found = [...known];
  for (let page = 0; page < TAIL_PAGES; page++) {
    const after_id = Math.max(newest, found.at(-1)?.id ?? 0);
    const { action_type, from } = filters;
    const { data, meta } = await get<EntriesPart>(
      '/read/activity',
      { action_type, from, order: 'asc', after_id, per_page: PER_PAGE },
      signal,
    );
    found.push(...data);
    if (!meta.has_more) break;
  }
  return found;
}
