import {
  type InfiniteData,
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import type { TicketDetail } from '../../../../src/console-api/tickets/ticket.ts';
import type { TicketCounts, TicketIds, TicketPage } from '../../../../src/console-api/tickets/ticket-list.ts';
import type { TicketStats } from '../../../../src/console-api/tickets/ticket-stats.ts';
import type { NewTriage, People, TriageResult } from '../../../../src/console-api/tickets/ticket-triage.ts';
import { get, type Query, read, send } from '../../api.ts';
import { notify } from '../../parts/announcer.tsx';
import { rangeEnd, rangeStart } from '../../parts/day.ts';
import { offerUndo } from '../../parts/undo.ts';
import { type TicketsSearch, usualSort } from './tickets-search.ts';

const RENEWED_MS = 60_000;

/** A list that was scrolled far down is not refreshed page by page. */
const isLong = ({ data }: { data: InfiniteData<TicketPage> | undefined }) => (data?.pages.length ?? 0) > 3;

/** The service's parameters of a list. */
function choiceOf({ status, from, to, ticket: _, ...search }: TicketsSearch): Query {
  return { sort: usualSort({ status }), ...search, list: status, from: rangeStart(from), to: rangeEnd(to) };
}

/** The tickets that the URL chooses; more pages load as the end of the list comes into view. */
export function useTickets(search: TicketsSearch) {
  const choice = choiceOf(search);
  return useInfiniteQuery({
    queryKey: ['tickets', 'list', choice],
    queryFn: ({ pageParam, signal }) => get<TicketPage>('/tickets', { ...choice, page: pageParam }, signal),
    initialPageParam: 1,
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (isLong(state) ? false : RENEWED_MS),
    refetchOnWindowFocus: ({ state }) => !isLong(state),
    select: ({ pages }) => ({
      // A ticket that is opened between two pages moves the others on.
      tickets: [...new Map(pages.flatMap(({ data }) => data).map((ticket) => [ticket.id, ticket])).values()],
      total: pages[0]?.total ?? 0,
      limited: pages[0]?.limited ?? false,
    }),
  });
}

/** The ids of the first thousand tickets that the URL chooses. */
export function getIds(search: TicketsSearch): Promise<TicketIds> {
  return get<TicketIds>('/tickets/ids', choiceOf(search));
}

/** How many tickets each filter leads to, besides those that the URL chooses already. */
export function useCounts({ connection_id, assignee, tags, q, from, to }: TicketsSearch) {
  const choice = { connection_id, assignee, tags, q, from: rangeStart(from), to: rangeEnd(to) };
  return useQuery({
    ...read<TicketCounts>('/tickets/counts', choice),
    placeholderData: keepPreviousData,
    refetchInterval: RENEWED_MS,
  });
}

/** A ticket with its history; `id` comes from the URL. */
export function ticketQuery(id: string) {
  return read<TicketDetail>(`/tickets/${id}`);
}

export function useStats() {
  return useQuery({
    ...read<TicketStats>('/tickets/stats'),
    refetchInterval: RENEWED_MS,
  });
}

/** The members whom tickets can be assigned to. */
export function usePeople() {
  return useQuery({
    ...read<People>('/tickets/people'),
    staleTime: 60_000,
  });
}

export type Ticket = TicketPage['data'][number];
/** A ticket in the version that the member sees. */
export type SeenTicket = NewTriage['tickets'][number];

/** A change of tickets. */
export interface Step {
  tickets: SeenTicket[];
  wanted: Omit<NewTriage, 'tickets'>;
  /** What happened to the tickets, such as "assigned to Ben". */
  done: string;
}

/** Changes tickets and says so, with an offer to undo it. */
export function useTriage() {
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: ['tickets'] });
  const undo = async (tickets: SeenTicket[]) => {
    const path = '/tickets/triage/undo';
    const { changed, skipped } = await send<TriageResult>('POST', path, { tickets });
    await refresh();
    return `${noun(changed.length)} restored.${skippedText(skipped)}`;
  };
  return useMutation({
    mutationFn: ({ tickets, wanted }: Step) =>
      send<TriageResult>('POST', '/tickets/triage', { tickets, ...wanted } satisfies NewTriage),
    async onSuccess({ changed, skipped }, { done }) {
      await refresh();
      const said = `${noun(changed.length)} ${done}.${skippedText(skipped)}`;
      if (changed.length === 0) notify(skippedText(skipped).trim() || 'Nothing to change.');
      else offerUndo(said, () => undo(changed));
    },
  });
}

function noun(count: number): string {
  return count === 1 ? 'One ticket' : `${count.toLocaleString('en')} tickets`;
}

/** Why tickets were not changed; '' when all were. */
function skippedText(skipped: TriageResult['skipped']): string {
  const resolved = skipped.filter(({ reason }) => reason === 'resolved').length;
  const changed = skipped.filter(({ reason }) => reason === 'changed');
  const by = [...new Set(changed.map((ticket) => ticket.by).filter((name) => name !== null))];
  return [
    resolved > 0 ? ` ${noun(resolved)} skipped: already resolved.` : '',
    changed.length > 0
      ? ` ${noun(changed.length)} skipped: ${by.join(', ') || 'someone'} changed ${changed.length === 1 ? 'it' : 'them'} first.`
      : '',
  ].join('');
}
