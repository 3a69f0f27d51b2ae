import { pino } from 'pino';
import type {
  Envelope,
  MessageContext,
  MessageEvent,
  OpenDestination,
} from '../../src/notifications/channels/channel.ts';
import { FORMATS } from '../../src/notifications/channels/formats.ts';
import type { SendResult } from '../../src/notifications/sending/outgoing.ts';
import { startSender } from '../../src/notifications/sending/send-in-child.ts';

/** The process that sends, as the service starts it. */
export function startTestSender(smtpUrl: string | null = null) {
  const mailFrom = smtpUrl === null ? null : 'dbvitals <dbvitals@example.com>';
  return startSender({ allowPrivate: true, smtpUrl, mailFrom, log: pino({ level: 'silent' }) });
}

let sequence = 0;

/** Sends events to a destination in one message, as the dispatcher does. */
export async function sendEvents(
  sender: ReturnType<typeof startTestSender>,
  destination: OpenDestination,
  events: readonly MessageEvent[],
  context: MessageContext,
): Promise<SendResult> {
  const [first] = events;
  if (first === undefined) throw new Error('Nothing to send.');
  const format = FORMATS[destination.channel];
  const made = format.makeMessage?.(events, context) ?? { contentType: 'application/json', body: first.body };
  sequence += 1;
  const envelope: Envelope = {
    ...made,
    eventId: first.event_id,
    epoch: 'epoch-1',
    sequence,
    at: Math.floor(Date.now() / 1_000),
  };
  return sender.send(await format.request(destination, envelope));
}
