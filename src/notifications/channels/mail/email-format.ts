import { createHash } from 'node:crypto';
import type { MailMessage } from '../../sending/outgoing.ts';
import type { ChannelFormat, MessageContext, MessageEvent, OpenDestination } from '../channel.ts';
import { cutText } from '../plain-text.ts';
import { readDigestReport } from '../report/digest-report.ts';
import { linkTo } from '../report/report.ts';
import { type Room, summarize } from '../summary.ts';
import { threadOf } from '../thread.ts';
import { digestHtml, digestPlain } from './digest-part.ts';
import { htmlPart, withLinkHtml } from './html-part.ts';
import { textPart, withLink } from './text-part.ts';

/** Longer subjects are cut by the programs that show them. */
const SUBJECT = 160;
const ROOM: Room = { full: 20, lines: 100, text: 1_000, code: 4_000, changes: 10 };

/** A made message, before each recipient gets a copy with an own link. */
interface Letter {
  subject: string;
  text: string;
  html: string;
  /** What the message is about, if it is about one thing: {@link threadOf}. */
  thread: string | null;
  console_url: string;
}

/** E-mail: plain text and HTML that say the same, in a thread for each alert or ticket. */
export const email: ChannelFormat = {
  makeMessage: (events, context) => ({
    contentType: 'application/json',
    body: JSON.stringify(letterOf(events, context)),
  }),
  mostEvents: 200,
  request: (destination, { body, eventId }) => {
    const letter: Letter = JSON.parse(body); // as makeMessage wrote it
    const messages = destination.recipients.map((recipient) =>
      addressed(letter, destination, recipient, eventId),
    );
    return { protocol: 'smtp', messages };
  },
};

function letterOf(events: readonly MessageEvent[], context: MessageContext): Letter {
  const digest = readDigestReport(events, context);
  if (digest)
    return {
      subject: headerText(digest.title),
      text: digestPlain(digest),
      html: digestHtml(digest),
      thread: null,
      console_url: context.consoleUrl,
    };
  const summary = summarize(events, context, ROOM);
  const threads = new Set(events.map((event) => threadOf(event, context)));
  const [thread = null] = threads.size === 1 ? threads : [];
  return {
    subject: headerText(summary.heading),
    text: textPart(summary),
    html: htmlPart(summary),
    thread,
    console_url: context.consoleUrl,
  };
}

/** A text of strangers as the value of a mail header: one line, and nothing that a reader would decode. */
function headerText(line: string): string {
  return cutText(line, SUBJECT).replaceAll('=?', '=\u200b?');
}

function addressed(
  { subject, text, html, thread, console_url }: Letter,
  { accountId, destinationId }: OpenDestination,
  recipient: OpenDestination['recipients'][number],
  eventId: string,
): MailMessage {
  const { hostname } = new URL(console_url);
  const place = `${accountId}.${destinationId}.${digest(recipient.email)}@${hostname}`;
  const link = linkTo(console_url, `/email/${encodeURIComponent(recipient.token)}`);
  const oneClick = linkTo(
    console_url,
    `/console/api/email/${encodeURIComponent(recipient.token)}/unsubscribe`,
  );
  return {
    to: recipient.email,
    subject,
    text: withLink(text, link),
    html: withLinkHtml(html, link),
    headers: {
      // The same on every attempt: a message that arrives twice is recognized.
      'Message-ID': `<${eventId}.${place}>`,
      ...(thread !== null && threadHeaders(`<${digest(thread)}.${place}>`)),
      ...automatic,
      // RFC 8058: a POST to it unsubscribes at once; a browser that opens it gets the page.
      'List-Unsubscribe': `<${oneClick}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'List-Id': `<account-${accountId}.dbvitals.${hostname}>`,
    },
  };
}

/** RFC 3834: no program answers the message, such as one that says that somebody is on holiday. */
export const automatic = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' };

/** All messages of a thread refer to the same id, which no message has. So they belong together in any order. */
function threadHeaders(root: string): Record<string, string> {
  return { 'In-Reply-To': root, References: root };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
