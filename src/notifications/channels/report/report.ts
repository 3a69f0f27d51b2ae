import { duration } from '../../../platform/text/duration-text.ts';
import { measuredSentence } from '../../../platform/text/measured-sentence.ts';
import { metricWords } from '../../../platform/text/metric-words.ts';
import { reasonInWords } from '../../../platform/text/silence-reason-words.ts';
import { valueText } from '../../../platform/text/value-text.ts';
import { BLOCKING_CHECKS } from '../../../vocabulary/blocking-checks.ts';
import type { EventKind } from '../../../vocabulary/event-kinds.ts';
import type { Severity } from '../../../vocabulary/severities.ts';
import { unitOf } from '../../../vocabulary/units.ts';
import type { EventDetails } from '../../event.ts';
import type { MessageContext, MessageEvent } from '../channel.ts';
import { cutText, plainBlock, plainLine } from '../plain-text.ts';

/** How an event looks: its severity, or that something is over, or neither. */
export type Tone = Severity | 'over';

/**
 * What every channel says of an event, in plain text without control characters. It holds texts of strangers, such as
 * names of objects: each channel escapes them.
 */
export interface Report {
  tone: Tone;
  /** Such as `Critical on orders: A table holds many dead rows`. */
  heading: string;
  /** The object in its database, such as `shop: public.orders`; null = the event has none. A line of several events names it. */
  subject: string | null;
  /** A sentence before the facts; null = none. */
  note: string | null;
  facts: readonly Fact[];
  /** What changed on the connection in the 24 hours before, newest first. */
  changes: readonly string[];
  /** What to do: statements, or a sentence. Null = nothing. */
  remediation: string | null;
  /** The console's page. */
  url: string;
}

interface Fact {
  name: string;
  text: string;
}

/** The heading of the changes. */
export const CHANGES = 'Changed in the 24 hours before';
/** The heading of the remediation. */
export const REMEDIATION = 'What to do';
/** Instead of a statement that a channel would change, or that is too long for it. */
export const NOT_SHOWN = 'The statement cannot be shown here as it is. Open the page in dbvitals to copy it.';
/** The text of the link to the console. */
export const OPEN = 'Open in dbvitals';

const TEST = 'Test message from dbvitals';
const TEST_NOTE = 'This is a test. Nothing happened, and there is nothing to do.';

/** Makes the report of an event. */
export function reportOf(event: MessageEvent, { consoleUrl }: MessageContext): Report {
  const { kind, details } = event;
  return {
    tone: isOver(kind) ? 'over' : (event.severity ?? 'info'),
    heading: headingOf(event),
    subject: subjectOf(event),
    note: kind === 'test' ? TEST_NOTE : null,
    facts: factsOf(event)
      .map(({ name, text }) => ({ name: plainLine(name), text: plainLine(text) }))
      .filter(({ name, text }) => name !== '' && text !== ''),
    changes: isOver(kind) ? [] : event.changes.map(plainLine),
    remediation: isOver(kind) ? null : shownRemediation(details.remediation),
    url: linkTo(consoleUrl, details.page),
  };
}

// Channels tear these apart: they would end a block of code, or be replaced.
const TORN = /`{3}|\{\{/;

function shownRemediation(remediation: string | null): string | null {
  const text = plainBlock(remediation ?? '');
  return TORN.test(text) ? NOT_SHOWN : text || null;
}

/** A URL of the console. Nothing in it ends a link, in no channel. */
export function linkTo(consoleUrl: string, page: string): string {
  const encode = (mark: string) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;
  return new URL(`${consoleUrl}${page}`).href.replace(/[()<>|"'\\`[\]{}*]/g, encode);
}

/** Whether an event of this kind says that something ended. */
export function isOver(kind: EventKind): boolean {
  return kind === 'ops.ticket_resolved' || kind === 'alert.resolved' || kind === 'collector.returned';
}

/** `2026-03-02 10:15:00 UTC`. */
function utc(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Such as `Critical on orders: A table holds many dead rows`. */
function headingOf({ kind, severity, details }: MessageEvent): string {
  const title = plainLine(problemText(kind, details));
  if (kind === 'test') return TEST;
  if (kind === 'digest') return title || 'Digest';
  if (kind === 'destination.disabled') return title || 'A destination was disabled';
  if (kind === 'api_key.expiring') return title || 'An API key expires soon';
  if (kind === 'collector.silent') return title || 'A collector is silent';
  if (kind === 'collector.returned') return `Resolved: ${title || 'a collector is silent'}`;
  const place = details.connection ? ` on ${plainLine(details.connection.name)}` : '';
  return `${stateWords(kind, severity, details)}${place}: ${title}`;
}

/**
 * What is wrong: the title of the check; of sessions that block others what was measured, such as `Sessions of shop/bob/psql have
 * blocked 14 sessions for 45 s`, because a person reads in the headline whether to get up.
 */
function problemText(kind: EventKind, { title, check_id, metric_line }: EventDetails): string {
  if (isOver(kind) || metric_line === null || !BLOCKING_CHECKS.includes(check_id ?? '')) return title;
  const [measured = ''] = metric_line.split(';');
  return measuredSentence(measured.replace(' (database, role, application)', '')) || title;
}

function subjectOf({ details: { database, object } }: MessageEvent): string | null {
  const parts = object === null ? [] : [database, object].map(plainLine).filter(Boolean);
  return parts.length === 0 ? null : parts.join(': ');
}

/** A report in one line: its heading, and its object, which tells events apart. Each has at most `most` UTF-16 units. */
export function lineText({ heading, subject }: Report, most = Number.POSITIVE_INFINITY): string {
  return subject === null ? cutText(heading, most) : `${cutText(heading, most)} (${cutText(subject, most)})`;
}

type Titled = Exclude<
  EventKind,
  'test' | 'digest' | 'destination.disabled' | 'api_key.expiring' | 'collector.silent' | 'collector.returned'
>;

function stateWords(kind: Titled, severity: Severity | null, details: EventDetails): string {
  const word = severity ?? 'info';
  const named = `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
  const words: Record<Titled, string> = {
    'health_check.completed': 'Health check',
    'ops.ticket_created': named,
    'ops.ticket_reopened': `${named} again`,
    'ops.ticket_escalated': `Now ${word}`,
    'ops.ticket_resolved': isMended(details) ? 'Resolved' : 'Closed',
    'alert.triggered': details.is_reminder ? `Still ${word}` : `${named} alert`,
    'alert.resolved': isMended(details) ? 'Alert resolved' : 'Alert closed',
  };
  return words[kind];
}

/** What tickets and alerts give as the reason when a run no longer finds the fault. */
const MENDED = ['no longer found', 'the condition no longer holds'];

/** Whether the fault is gone. Otherwise somebody silenced or removed it, or stopped watching: nothing was resolved. */
function isMended({ resolution }: EventDetails): boolean {
  return resolution === null || MENDED.includes(resolution);
}

function factsOf(event: MessageEvent): Fact[] {
  const { kind, details, occurred_at } = event;
  const { connection, database, object, measured, metric_line: measuredLine, since, resolution } = details;
  return [
    connection && { name: 'Connection', text: place(connection) },
    database !== '' && { name: 'Database', text: database },
    object !== null && { name: 'Object', text: object },
    measuredLine !== null && { name: 'Measured', text: measuredSentence(measuredLine) },
    measured && { name: metricWords(measured.metric), text: compared(measured, isOver(kind)) },
    since !== null && { name: 'Since', text: utc(new Date(since)) },
    isOver(kind) && { name: 'Until', text: until(occurred_at, since) },
    isOver(kind) && { name: 'Reason', text: reasonInWords(resolution ?? 'no longer found') },
    details.check_id !== null && { name: 'Check', text: details.check_id },
    since === null && { name: 'Time', text: utc(occurred_at) },
  ].filter((fact) => fact !== null && fact !== false);
}

/** `orders (db-2.example.com:5432)`. */
function place({ name, host, port }: NonNullable<EventDetails['connection']>): string {
  return `${name} (${host.startsWith('/') ? host : `${host}:${port}`})`;
}

const OPERATORS: Readonly<Record<string, string>> = {
  '<': 'below',
  '<=': 'at or below',
  '>': 'above',
  '>=': 'at or above',
};

/** `41, below the threshold of 50`. */
function compared(
  { metric, operator, threshold, value }: NonNullable<EventDetails['measured']>,
  isPast: boolean,
): string {
  const unit = unitOf(metric);
  const relation = OPERATORS[operator] ?? operator;
  return `${isPast ? 'was ' : ''}${valueText(value, unit)}, ${relation} the threshold of ${valueText(threshold, unit)}`;
}

function until(at: Date, since: string | null): string {
  const after = since === null ? '' : `, after ${duration((at.getTime() - Date.parse(since)) / 1_000)}`;
  return `${utc(at)}${after}`;
}
