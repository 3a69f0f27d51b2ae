import type { Ticket } from '../../../../client/src/records.ts';
import { duration } from '../../parts/time.tsx';

/** How long a ticket has been or was open; `now` from `useNow`, so that list and panel agree. */
export function ticketDuration(
  { first_seen_at, resolved_at }: Pick<Ticket, 'first_seen_at' | 'resolved_at'>,
  now: number,
): string {
  const end = resolved_at === null ? now : Date.parse(resolved_at);
  const seconds = (end - Date.parse(first_seen_at)) / 1000;
  return resolved_at === null && seconds < 60 ? 'less than a minute' : duration(seconds);
}
