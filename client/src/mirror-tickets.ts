import type { Answer } from './ask.ts';
import type { Page } from './list.ts';
import type { Ticket, TicketMeta, TicketsQuery } from './records.ts';
import { wait } from './wait.ts';

/** How often changes are looked for, unless told otherwise. */
const POLL_SECONDS = 30;

/** What to mirror, and from where on. */
export interface MirrorOptions {
  /** The `after` of the last batch that you stored; without it all tickets are given first. */
  after?: string | undefined;
  /** Fields to add to each ticket, such as `['triage', 'tags']`. */
  include?: readonly ('measured' | 'triage' | 'tags' | 'url')[] | undefined;
  /** Seconds between two looks for changes: 30 unless given. */
  pollSeconds?: number | undefined;
  /** Ends it at once: the iterator throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** Tickets that changed, in the order of their changes. Store them, then `after`: then nothing is lost by a stop. */
export interface TicketBatch {
  tickets: Ticket[];
  after: string;
}

type ReadUpdates = (query: TicketsQuery) => Promise<Answer<Page<Ticket, TicketMeta>>>;

/** Gives each change of a ticket once, for ever: the ticket as it is then. */
export async function* mirrorTickets(
  read: ReadUpdates,
  { after, include, pollSeconds = POLL_SECONDS, signal }: MirrorOptions,
): AsyncGenerator<TicketBatch, never, undefined> {
  for (let place = after; ; ) {
    const { body } = await read({
      order: 'asc',
      per_page: 100,
      ...(place !== undefined && { after_update: place }),
      ...(include !== undefined && { include: include.join() }),
    });
    const { after_update = place, has_more } = body.meta;
    place = after_update;
    signal?.throwIfAborted();
    if (body.data.length > 0 && place !== undefined) yield { tickets: body.data, after: place };
    if (!has_more) await wait(pollSeconds * 1_000, signal);
  }
}
