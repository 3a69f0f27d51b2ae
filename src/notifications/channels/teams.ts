import type { ChannelFormat, MessageContext, MessageEvent } from './channel.ts';
import { postMessage } from './http-request.ts';
import { type DigestReport, fittedDigest, readDigestReport } from './report/digest-report.ts';
import { CHANGES, lineText, OPEN, REMEDIATION, type Report, type Tone } from './report/report.ts';
import { fitted, type Room, summarize } from './summary.ts';

/** A message of a Teams webhook has at most 28 kB, counted after Teams has written the card again: {@link escapedBytes}. */
const MOST_BYTES = 27_000;
const ROOM: Room = { full: 5, lines: 30, text: 600, code: 4_000, changes: 10 };

const COLOURS: Readonly<Record<Tone, string>> = {
  critical: 'Attention',
  warning: 'Warning',
  info: 'Accent',
  over: 'Good',
};

interface Run {
  weight?: 'Bolder';
  size?: 'Large';
  color?: string;
  fontType?: 'Monospace';
  isSubtle?: true;
  /** Makes a link of the text. */
  selectAction?: { type: 'Action.OpenUrl'; url: string };
}

/**
 * An Adaptive Card 1.4 for the webhook trigger of Workflows. All texts are TextRuns, which know no Markdown: nothing in them
 * can be a link, an image or a mention.
 */
export const teams: ChannelFormat = {
  makeMessage: (events, context) => ({
    contentType: 'application/json',
    body: makeBody(events, context),
  }),
  mostEvents: 200,
  request: postMessage,
};

function makeBody(events: readonly MessageEvent[], context: MessageContext): string {
  const fits = (made: string) => escapedBytes(made) <= MOST_BYTES;
  const digest = readDigestReport(events, context);
  if (digest) return fittedDigest(digest, digestBody, fits);
  return fitted(ROOM, (room) => body(events, context, room), fits);
}

function digestBody({ title, summary, parts, footer, url }: DigestReport): string {
  return card(title, url, [
    text([title, { weight: 'Bolder', size: 'Large' }]),
    ...summary.map((line) => text([line])),
    ...parts.flatMap(({ heading, lines }) => [
      text([heading, { weight: 'Bolder' }]),
      ...lines.map((one) => text(['• '], [one.text, { selectAction: openUrl(one.url) }])),
    ]),
    text([footer, { isSubtle: true }]),
  ]);
}

const openUrl = (url: string) => ({ type: 'Action.OpenUrl', url }) as const;

function body(events: readonly MessageEvent[], context: MessageContext, room: Room): string {
  const { heading, tone, full, lines, more, footer, url } = summarize(events, context, room);
  return card(heading, url, [
    text([heading, { weight: 'Bolder', size: 'Large', color: COLOURS[tone] }]),
    ...full.flatMap((report) => elements(report, full.length + lines.length > 1)),
    ...lines.map((report) => text([`• ${lineText(report, 120)}`, { color: COLOURS[report.tone] }])),
    ...(more === null ? [] : [text([more])]),
    text([footer, { isSubtle: true }]),
  ]);
}

/** The body with a card, whose button opens `url`. */
function card(heading: string, url: string, shown: readonly object[]): string {
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    // Where a card can't be shown.
    fallbackText: plain(heading),
    body: shown,
    actions: [{ type: 'Action.OpenUrl', title: OPEN, url }],
  };
  return JSON.stringify({
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  });
}

/**
 * The bytes of JSON as .NET writes it: everything but plain ASCII, quotes and the marks of HTML as `\u0416`, six bytes for each UTF-16
 * unit. A card of 26,699 bytes in UTF-8 had 43,173 so.
 */
function escapedBytes(json: string): number {
  const units = json.match(/[^\x20-\x7e]|[<>&'+`]/g)?.length ?? 0;
  const quotes = json.match(/\\"/g)?.length ?? 0;
  return json.length + 5 * units + 4 * quotes;
}

function elements(report: Report, isOneOfSeveral: boolean): object[] {
  const { heading, note, facts, changes, remediation, tone } = report;
  return [
    ...(isOneOfSeveral ? [text([heading, { weight: 'Bolder', color: COLOURS[tone] }])] : []),
    ...(note === null ? [] : [text([note])]),
    ...facts.map((fact) => text([`${fact.name}: `, { weight: 'Bolder' }], [fact.text])),
    ...(changes.length > 0
      ? [text([CHANGES, { weight: 'Bolder' }]), ...changes.map((change) => text([`• ${change}`]))]
      : []),
    ...(remediation === null ? [] : [text([REMEDIATION, { weight: 'Bolder' }]), ...codeLines(remediation)]),
  ];
}

function codeLines(code: string): object[] {
  return code.split('\n').map((line) => text([line || ' ', { fontType: 'Monospace' }]));
}

function text(...runs: [string, Run?][]): object {
  const inlines = runs.map(([words, looks]) => ({ type: 'TextRun', text: plain(words), ...looks }));
  return { type: 'RichTextBlock', inlines };
}

/** `{{DATE(…)}}` is replaced in texts of cards: two braces are torn apart. */
function plain(words: string): string {
  return words.replace(/\{(?=\{)/g, '{\u200b');
}
