import type { ChannelFormat, MessageContext, MessageEvent } from './channel.ts';
import { tearFences } from './escape-markdown.ts';
import { postMessage } from './http-request.ts';
import { cutEscaped } from './plain-text.ts';
import { type DigestReport, fittedDigest, readDigestReport } from './report/digest-report.ts';
import { CHANGES, lineText, OPEN, REMEDIATION, type Report } from './report/report.ts';
import { fitted, type Room, summarize } from './summary.ts';

// https://docs.slack.dev/reference/block-kit/blocks: at most 50 blocks, and 3,000 characters in a section.
const BLOCKS = 50;
const SECTION = 3_000;
/** Slack refuses blocks of more than about 13,000 characters as `msg_blocks_too_long`. No page of Slack says how many. */
const MOST = 12_000;
const ROOM: Room = { full: 3, lines: 20, text: 600, code: 2_500, changes: 10 };

interface Text {
  type: 'mrkdwn';
  text: string;
  /** Slack makes no links of what looks like an address, a channel or a name. */
  verbatim: true;
}

interface Message {
  /** Shown in notifications only. */
  text: string;
  unfurl_links: false;
  unfurl_media: false;
  blocks: ({ type: 'section'; text: Text } | { type: 'context'; elements: Text[] })[];
}

/** Slack's Block Kit, by an incoming webhook. */
export const slack: ChannelFormat = {
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

function digestMessage({ title, summary, parts, footer, url }: DigestReport): Message {
  const facing = [`*${link(url, title)}*`, ...summary.map(escapeSlack)];
  const listed = parts.map(({ heading, lines }) =>
    [`*${escapeSlack(heading)}*`, ...lines.map((one) => `• ${link(one.url, one.text)}`)].join('\n'),
  );
  return {
    text: cutEscaped(title, SECTION, escapeSlack),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      section(facing.join('\n')),
      ...listed.map(section),
      { type: 'context', elements: [text(`${escapeSlack(footer)} · ${link(url, OPEN)}`)] },
    ],
  };
}

function message(events: readonly MessageEvent[], context: MessageContext, room: Room): Message {
  const { heading, full, lines, more, footer, url } = summarize(events, context, room);
  const others = [...lines.map(line), ...(more === null ? [] : [escapeSlack(more)])].join('\n');
  return {
    text: cutEscaped(heading, SECTION, escapeSlack),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      ...(events.length > 1 ? [section(`*${link(url, heading)}*`)] : []),
      ...full.flatMap(sections),
      ...(others ? [section(others)] : []),
      { type: 'context', elements: [text(`${escapeSlack(footer)} · ${link(url, OPEN)}`)] },
    ],
  };
}

function fits(made: Message): boolean {
  const texts = made.blocks.flatMap((block) => (block.type === 'section' ? [block.text] : block.elements));
  const isShort = texts.every((one) => one.text.length <= SECTION);
  return isShort && made.blocks.length <= BLOCKS && JSON.stringify(made).length <= MOST;
}

function sections({ heading, note, facts, changes, remediation, url }: Report): Message['blocks'] {
  const facing = [
    `*${link(url, heading)}*`,
    ...(note === null ? [] : [note]),
    ...facts.map((fact) => `*${escapeSlack(fact.name)}:* ${escapeSlack(fact.text)}`),
  ];
  const changed = [`*${CHANGES}*`, ...changes.map((change) => `• ${escapeSlack(change)}`)];
  return [
    section(facing.join('\n')),
    ...(changes.length > 0 ? [section(changed.join('\n'))] : []),
    ...(remediation === null
      ? []
      : [section(`*${REMEDIATION}*\n\`\`\`\n${escapeSlack(remediation)}\n\`\`\``)]),
  ];
}

function line(report: Report): string {
  return `• ${link(report.url, lineText(report, 120))}`;
}

function link(url: string, words: string): string {
  return `<${escapeSlack(url)}|${escapeSlack(words)}>`;
}

/**
 * Slack escapes three characters: mentions, channels and links begin with `<`. Backticks in threes are torn apart. The other
 * marks can't be escaped: at worst a name is bold.
 */
function escapeSlack(words: string): string {
  return tearFences(words).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function section(mrkdwn: string): { type: 'section'; text: Text } {
  return { type: 'section', text: text(mrkdwn) };
}

function text(mrkdwn: string): Text {
  return { type: 'mrkdwn', text: mrkdwn, verbatim: true };
}
