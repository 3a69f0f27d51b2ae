import type { ReactNode } from 'react';
import type { TicketDetail } from '../../../../src/console-api/tickets/ticket.ts';
import { reasonInWords } from '../../../../src/platform/text/silence-reason-words.ts';
import { local, Time } from '../../parts/time.tsx';
import { escapeTurning } from '../../parts/visible-text.ts';

type Step = TicketDetail['history'][number];

const WORDS: Record<Step['kind'], string> = {
  found: 'First found',
  reopened: 'Reopened',
  resolved: 'Resolved',
  escalated: 'Escalated',
  deescalated: 'De-escalated',
  assigned: 'Assigned',
  unassigned: 'Unassigned',
  acknowledged: 'Acknowledged',
  unacknowledged: 'Acknowledgement withdrawn',
  snoozed: 'Snoozed',
  unsnoozed: 'Snooze withdrawn',
  snooze_over: 'Snooze ended',
  commented: 'Commented on',
  comment_removed: 'Comment removed',
  silenced: 'Silenced',
  silence_ended: 'Silence ended',
  silence_over: 'Silence expired',
};

const TO: readonly Step['kind'][] = ['assigned', 'escalated', 'deescalated'];

/** A step as a sentence, such as `Assigned to Ben by Ada`. */
export function stepText({ kind, by, detail, until, undone }: Step): string {
  const to = detail !== null && TO.includes(kind) ? ` to ${detail}` : '';
  const who = by === null ? '' : by === 'command line' ? ' at the command line' : ` by ${by}`;
  const end = until === null ? '' : ` until ${local(until)}`;
  const why = detail === null || to !== '' ? '' : `: ${reasonInWords(detail)}`;
  return escapeTurning(`${WORDS[kind]}${to}${who}${end}${undone ? ' (undone)' : ''}${why}`);
}

/** What happened to a ticket, and who did it. */
export function TicketHistory({ ticket }: { ticket: TicketDetail }) {
  const { history, last_seen_at, resolved_at } = ticket;
  const steps: (readonly [at: string, what: ReactNode])[] = history.map((step) => [step.at, stepText(step)]);
  if (resolved_at === null) steps.push([last_seen_at, 'Last found']);
  return (
    <div>
      <h3>History</h3>
      <ol className="ticket-history">
        {steps.map(([at, what], step) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two steps may have one instant
          <li key={step}>
            <bdi>{what}</bdi>
            <Time as="full" at={at} />
          </li>
        ))}
      </ol>
    </div>
  );
}
