import { PAGE_LINKS } from '../../../vocabulary/page-paths.ts';
import type { DigestText } from '../../event.ts';
import type { MessageContext, MessageEvent } from '../channel.ts';
import { escapeMarkdown } from '../escape-markdown.ts';
import { cutText, plainLine } from '../plain-text.ts';
import { linkTo, OPEN } from './report.ts';

/** A digest as every channel says it, in plain text: each channel escapes it. */
export interface DigestReport {
  title: string;
  summary: readonly string[];
  parts: readonly { heading: string; lines: readonly { text: string; url: string }[] }[];
  /** `dbvitals, account Acme`. */
  footer: string;
  /** The console's fleet. */
  url: string;
}

/** UTF-16 units of a line, before it is cut for a channel. */
const LINE = 300;

/** The digest that a message is about; null = it is about other events. A digest is a message by itself. */
export function readDigestReport(
  [event]: readonly MessageEvent[],
  context: MessageContext,
): DigestReport | null {
  return event?.details.digest ? toDigestReport(event.details.digest, context) : null;
}

/** A digest with the addresses of its pages. */
export function toDigestReport(digest: DigestText, { consoleUrl, account }: MessageContext): DigestReport {
  const line = (text: string) => cutText(plainLine(text), LINE);
  return {
    title: line(digest.title) || 'Digest',
    summary: digest.summary.map(line).filter((one) => one !== ''),
    parts: digest.parts.map(({ heading, lines }) => ({
      heading: line(heading),
      lines: lines.map(({ text, path }) => ({ text: line(text) || OPEN, url: linkTo(consoleUrl, path) })),
    })),
    footer: `dbvitals, account ${line(account)}`,
    url: linkTo(consoleUrl, PAGE_LINKS.fleet()),
  };
}

/** The first body that fits, with shorter and shorter lines. */
export function fittedDigest<Body>(
  digest: DigestReport,
  make: (digest: DigestReport) => Body,
  fits: (body: Body) => boolean,
): Body {
  for (let most = LINE; ; most = Math.floor(most / 1.5)) {
    const body = make(cutDigest(digest, most));
    if (fits(body) || most < 16) return body;
  }
}

function cutDigest({ title, summary, parts, footer, url }: DigestReport, most: number): DigestReport {
  return {
    title: cutText(title, most),
    summary: summary.map((line) => cutText(line, most)),
    parts: parts.map(({ heading, lines }) => ({
      heading,
      lines: lines.map((one) => ({ text: cutText(one.text, most), url: one.url })),
    })),
    footer: cutText(footer, most),
    url,
  };
}

/** A digest below its title, in Markdown. */
export function digestMarkdown({ summary, parts, url }: DigestReport): string {
  return [
    ...summary.map(escapeMarkdown),
    ...parts.map(({ heading, lines }) =>
      [
        `\n**${escapeMarkdown(heading)}**`,
        ...lines.map((one) => `- [${escapeMarkdown(one.text)}](${one.url})`),
      ].join('\n'),
    ),
    `\n[${OPEN}](${url})`,
  ].join('\n');
}
