import type { ChannelFormat, MessageContext, MessageEvent } from './channel.ts';
import { COLORS } from './colors.ts';
import { escapeMarkdown, tear } from './escape-markdown.ts';
import { postMessage } from './http-request.ts';
import { cutEscaped } from './plain-text.ts';
import { type DigestReport, digestMarkdown, fittedDigest, readDigestReport } from './report/digest-report.ts';
import { OPEN, type Report } from './report/report.ts';
import { lineMarkdown, reportMarkdown } from './report/report-markdown.ts';
import { fitted, type Room, type Summary, summarize } from './summary.ts';

// https://discord.com/developers/docs/resources/message#embed-object-embed-limits
const TITLE = 256;
const DESCRIPTION = 4_096;
/** Of all embeds of a message together. */
const EMBEDS = 6_000;
const CONTENT = 2_000;
/** At most 10 embeds: one for each event in full, and one for the others. */
const ROOM: Room = { full: 4, lines: 20, text: 600, code: 2_000, changes: 10 };

interface Embed {
  title?: string;
  url?: string;
  color: number;
  description: string;
  footer: { text: string };
}

interface Message {
  content?: string;
  embeds: Embed[];
  /** Nobody is notified, whatever the texts hold. */
  allowed_mentions: { parse: [] };
}

/** Discord's embeds, by a webhook. */
export const discord: ChannelFormat = {
  makeMessage: (events, context) => ({
    contentType: 'application/json',
    body: JSON.stringify(makeMessage(events, context)),
  }),
  mostEvents: 200,
  request: postMessage,
};

function makeMessage(events: readonly MessageEvent[], context: MessageContext): Message {
  const digest = readDigestReport(events, context);
  if (digest) return fittedDigest(digest, digestMessage, fits);
  return fitted(ROOM, (room) => message(events, context, room), fits);
}

function digestMessage(digest: DigestReport): Message {
  const { title, url, footer } = digest;
  const description = digestMarkdown(digest);
  return {
    embeds: [
      {
        title: cutEscaped(title, TITLE, escapeMarkdown),
        url,
        color: colorOf('info'),
        description,
        footer: { text: tear(footer) },
      },
    ],
    allowed_mentions: { parse: [] },
  };
}

function message(events: readonly MessageEvent[], context: MessageContext, room: Room): Message {
  const summary = summarize(events, context, room);
  return {
    ...(events.length > 1 && { content: cutEscaped(summary.heading, CONTENT, escapeMarkdown) }),
    embeds: [...summary.full.map((report) => embed(report, summary)), ...others(summary)],
    allowed_mentions: { parse: [] },
  };
}

function fits({ embeds }: Message): boolean {
  const sizes = embeds.map(
    ({ title = '', description, footer }) => title.length + description.length + footer.text.length,
  );
  return (
    sizes.reduce((sum, size) => sum + size, 0) <= EMBEDS &&
    embeds.every((one) => one.description.length <= DESCRIPTION)
  );
}

function embed(report: Report, { footer }: Summary): Embed {
  const { heading, url, tone } = report;
  return {
    title: cutEscaped(heading, TITLE, escapeMarkdown),
    url,
    color: colorOf(tone),
    description: reportMarkdown(report),
    footer: { text: tear(footer) },
  };
}

function others({ lines, more, footer, tone, url }: Summary): Embed[] {
  if (lines.length === 0 && more === null) return [];
  const rest = [...(more === null ? [] : [escapeMarkdown(more)]), `[${OPEN}](${url})`];
  const description = [...lines.map(lineMarkdown), ...rest].join('\n');
  return [{ color: colorOf(tone), description, footer: { text: tear(footer) } }];
}

function colorOf(tone: Report['tone']): number {
  return Number.parseInt(COLORS[tone].slice(1), 16);
}
