import type { ChannelFormat, MessageContext, MessageEvent } from './channel.ts';
import { COLORS } from './colors.ts';
import { escapeMarkdown, tear } from './escape-markdown.ts';
import { postMessage } from './http-request.ts';
import { type DigestReport, digestMarkdown, fittedDigest, readDigestReport } from './report/digest-report.ts';
import { OPEN, type Report } from './report/report.ts';
import { lineMarkdown, reportMarkdown } from './report/report-markdown.ts';
import { fitted, type Room, summarize } from './summary.ts';

/** A post has at most 16,383 characters (https://docs.mattermost.com/developers/integrate/webhooks/incoming). */
const MOST = 15_000;
const ROOM: Room = { full: 5, lines: 30, text: 600, code: 3_000, changes: 10 };

/** Mattermost's attachments, by an incoming webhook. */
export const mattermost: ChannelFormat = {
  makeMessage: (events, context) => ({
    contentType: 'application/json',
    body: makeBody(events, context),
  }),
  mostEvents: 200,
  request: postMessage,
};

function makeBody(events: readonly MessageEvent[], context: MessageContext): string {
  const fits = ({ length }: string) => length <= MOST;
  const digest = readDigestReport(events, context);
  if (digest) return fittedDigest(digest, digestBody, fits);
  return fitted(ROOM, (room) => body(events, context, room), fits);
}

function digestBody(digest: DigestReport): string {
  const { title, url, footer } = digest;
  const shown = { fallback: tear(title), color: COLORS.info, title: tear(title), title_link: url };
  return JSON.stringify({
    attachments: [{ ...shown, text: digestMarkdown(digest), footer: tear(footer) }],
  });
}

function body(events: readonly MessageEvent[], context: MessageContext, room: Room): string {
  const { heading, tone, full, lines, more, footer, url } = summarize(events, context, room);
  const others = [...lines.map(lineMarkdown), ...(more === null ? [] : [escapeMarkdown(more)])];
  const list = {
    fallback: tear(heading),
    color: COLORS[tone],
    text: [...others, `[${OPEN}](${url})`].join('\n'),
  };
  return JSON.stringify({
    ...(events.length > 1 && { text: `**${escapeMarkdown(heading)}**` }),
    attachments: [...full.map((report) => attachment(report, footer)), ...(others.length > 0 ? [list] : [])],
  });
}

function attachment(report: Report, footer: string): object {
  const { heading, url, tone } = report;
  return {
    fallback: tear(heading),
    color: COLORS[tone],
    // A title with a link is shown as it is, without Markdown.
    title: tear(heading),
    title_link: url,
    text: reportMarkdown(report),
    footer: tear(footer),
  };
}
