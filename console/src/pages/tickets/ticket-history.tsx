import { Link } from '@tanstack/react-router';
import type { TicketDetail } from '../../../../src/console-api/tickets/ticket.ts';
import { reasonInWords } from '../../../../src/platform/text/silence-reason-words.ts';
import { KIND_TEXTS } from '../../parts/kind-texts.ts';
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
  sent: 'Sent to ',
  not_sent: 'Not sent to ',
  sending: 'Being sent to ',
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

/** What happened to a ticket, who did it, and who was told. */
export function TicketHistory({ ticket: { history, last_seen_at, resolved_at } }: { ticket: TicketDetail }) {
  return (
    <div>
      <h3>History</h3>
      <ol className="ticket-history">
        {history.map((step, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two steps may have one instant
          <li key={place}>
            {step.delivery ? <Sent delivery={step.delivery} step={step} /> : <bdi>{stepText(step)}</bdi>}
            <Time as="full" at={step.at} />
          </li>
        ))}
        {resolved_at === null && (
          <li>
            Last found
            <Time as="full" at={last_seen_at} />
          </li>
        )}
      </ol>
    </div>
  );
}

/** `Sent to Slack #ops: ticket opened`, with a link to the delivery. */
function Sent({ step, delivery }: { step: Step; delivery: NonNullable<Step['delivery']> }) {
  const { id, destination_id, destination, event } = delivery;
  return (
    <span>
      {WORDS[step.kind]}
      <Link params={{ id: String(destination_id) }} search={{ delivery: String(id) }} to="/notifications/$id">
        <bdi>{escapeTurning(destination)}</bdi>
      </Link>
      : {KIND_TEXTS[event].name.toLowerCase()}
      {step.detail !== null && <bdi> ({escapeTurning(step.detail)})</bdi>}
    </span>
  );
}
