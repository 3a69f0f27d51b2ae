import type { Destination } from '../../../../src/console-api/notifications/destination-schemas.ts';
import { counted } from '../../parts/figure.ts';
import type { Status } from '../../parts/status-looks.tsx';
import { clockTime, localDay } from '../../parts/time.tsx';
import { visibleText } from '../../parts/visible-text.ts';

export interface Health {
  status: Status;
  /** A few words, such as "Delivering". */
  word: string;
  /** The cause, such as "503 Service Unavailable"; null = none. */
  detail: string | null;
}

/** How a destination is doing, in words. */
export function healthOf({
  state,
  state_reason,
  state_since,
  queue,
  recipients,
  channel,
}: Destination): Health {
  const detail = state_reason === null ? null : visibleText(state_reason);
  if (state === 'paused') return { status: 'suspended', word: 'Paused', detail };
  if (state === 'disabled') return { status: 'error', word: `Disabled on ${localDay(state_since)}`, detail };
  if (channel === 'email' && !recipients.some((one) => one.state === 'confirmed'))
    return unconfirmed(recipients);
  if (queue.failing_since !== null) {
    const result = queue.last_result === null ? null : visibleText(queue.last_result);
    const since = clockTime(new Date(queue.failing_since).getTime());
    // A test is tried once: then nothing is queued to be retried.
    const word = queue.queued > 0 ? 'Retrying since' : 'Failing since';
    return { status: 'warning', word: `${word} ${since}`, detail: result };
  }
  if (queue.last_success_at === null) return { status: 'never_run', word: 'Nothing sent yet', detail: null };
  return { status: 'active', word: 'Delivering', detail: null };
}

function unconfirmed(recipients: Destination['recipients']): Health {
  const waiting = recipients.filter(({ state }) => state === 'unconfirmed').length;
  if (waiting === 0) return { status: 'error', word: 'No recipients', detail: 'All recipients unsubscribed' };
  return {
    status: 'invited',
    word: `Waiting for ${counted(waiting, 'recipient')} to confirm`,
    detail: null,
  };
}
