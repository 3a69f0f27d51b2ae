import { PAGE_PATHS } from '../../vocabulary/page-paths.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import type { MessageContext, MessageEvent } from './channel.ts';
import { cutText, plainLine } from './plain-text.ts';
import { isOver, linkTo, NOT_SHOWN, type Report, reportOf } from './report/report.ts';

/** How much of its events a message shows. */
export interface Room {
  /** Events with everything that is known. */
  full: number;
  /** Further events in one line each. */
  lines: number;
  /** UTF-16 units of a heading or a fact. */
  text: number;
  /** UTF-16 units of the longest remediation that is shown. */
  code: number;
  /** Changes of an event. */
  changes: number;
}

/** A message: the worst events in full, the next ones in a line each, and how many are left out. */
export interface Summary {
  /** The heading of the worst event, and how many others there are: `…, and 11 more (1 critical, 9 warnings, 1 ended) in Acme`. */
  heading: string;
  /** The worst event: what the whole message looks like. */
  tone: Report['tone'];
  full: readonly Report[];
  lines: readonly Report[];
  /** `… and 12 more events.`; null = all are shown. */
  more: string | null;
  /** `dbvitals, account Acme`. */
  footer: string;
  /** The console's page of the event, or its list of alerts. */
  url: string;
}

/**
 * The worst first: critical, warning, info, resolved; of equals the earliest. The texts are cut to the room, and cut
 * texts say so. A remediation is shown whole or not at all: a part of it would be another statement.
 */
export function summarize(events: readonly MessageEvent[], context: MessageContext, room: Room): Summary {
  const sorted = events.toSorted(
    (a, b) => rank(a) - rank(b) || a.occurred_at.getTime() - b.occurred_at.getTime(),
  );
  const shown = sorted
    .slice(0, room.full + room.lines)
    .map((event) => cutReport(reportOf(event, context), room));
  const [worst] = shown;
  if (worst === undefined) throw new Error('A message needs an event.');
  const account = cutText(plainLine(context.account), room.text);
  return {
    heading: sorted.length === 1 ? worst.heading : headingOf(worst, sorted, account, room),
    tone: worst.tone,
    full: shown.slice(0, room.full),
    lines: shown.slice(room.full),
    more:
      sorted.length > shown.length ? `… and ${plural(sorted.length - shown.length, 'more event')}.` : null,
    footer: `dbvitals, account ${account}`,
    url: sorted.length === 1 ? worst.url : linkTo(context.consoleUrl, PAGE_PATHS.alerts),
  };
}

function rank({ kind, severity }: MessageEvent): number {
  if (isOver(kind)) return SEVERITIES.length;
  return severity === null ? SEVERITIES.length - 1 : SEVERITIES.indexOf(severity);
}

/** The problem may be cut, the count is not. */
function headingOf(worst: Report, sorted: readonly MessageEvent[], account: string, { text }: Room): string {
  const others = `, and ${sorted.length - 1} more (${counts(sorted.slice(1))}) in ${account}`;
  const problem = worst.heading.replace(/\.$/, '');
  return cutText(`${cutText(problem, Math.max(24, text - others.length))}${others}`, text);
}

/** `2 critical, 9 warnings, 1 ended`. */
function counts(events: readonly MessageEvent[]): string {
  const over = events.filter(({ kind }) => isOver(kind)).length;
  const open = events.filter(({ kind }) => !isOver(kind));
  const of = (severity: string) => open.filter((event) => (event.severity ?? 'info') === severity).length;
  const parts = [
    [of('critical'), 'critical'],
    [of('warning'), of('warning') === 1 ? 'warning' : 'warnings'],
    [of('info'), 'info'],
    [over, 'ended'],
  ] as const;
  const named = parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return named.join(', ');
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function cutReport(report: Report, { text, code, changes }: Room): Report {
  const left = report.changes.length - changes;
  return {
    ...report,
    heading: cutText(report.heading, text),
    subject: report.subject && cutText(report.subject, text),
    facts: report.facts.map((fact) => ({ name: cutText(fact.name, text), text: cutText(fact.text, text) })),
    changes: [
      ...report.changes.slice(0, changes).map((change) => cutText(change, text)),
      ...(left > 0 && changes > 0 ? [`… and ${plural(left, 'more change')}`] : []),
    ],
    remediation: report.remediation && report.remediation.length > code ? NOT_SHOWN : report.remediation,
  };
}

/**
 * The first body that fits, with less and less of the events. `make` is pure; `fits` holds for the least room by
 * construction, which the tests of each channel prove.
 */
export function fitted<Body>(most: Room, make: (room: Room) => Body, fits: (body: Body) => boolean): Body {
  for (let share = 1; ; share /= 2) {
    const body = make(shrink(most, share));
    if (fits(body) || share < 1 / 128) return body;
  }
}

function shrink({ full, lines, text, code, changes }: Room, share: number): Room {
  return {
    full: Math.max(1, Math.floor(full * share)),
    lines: Math.floor(lines * share),
    text: Math.max(24, Math.floor(text * Math.sqrt(share))),
    code: Math.max(24, Math.floor(code * share)),
    changes: Math.floor(changes * share),
  };
}
