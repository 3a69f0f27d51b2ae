import { randomBytes } from 'node:crypto';
import type { EventKind } from '../../vocabulary/events/event-kinds.ts';

/** The largest body, in bytes: Standard Webhooks recommends at most 20 kB. */
const LARGEST_BODY = 20_000;

const CUT = ' … (cut by dbvitals)';

/** A new id for an event. It is the `webhook-id` on every attempt. */
export function newEventId(): string {
  return `evt_${randomBytes(16).toString('base64url')}`;
}

/**
 * The envelope of the specification (section 6), as it is sent. Texts in `data` are cut at a character, the longest first,
 * until the body has at most 20 kB; a cut text says so.
 */
export function eventBody(kind: EventKind, at: Date, data: Readonly<Record<string, unknown>>): string {
  for (let longest = Number.POSITIVE_INFINITY; ; longest = Math.min(longest, 40_000) / 2) {
    const cut = Number.isFinite(longest) ? cutTexts(data, longest) : data;
    const body = JSON.stringify({ event: kind, timestamp: at.toISOString(), api_version: 'v1', data: cut });
    if (Buffer.byteLength(body) <= LARGEST_BODY) return body;
  }
}

/** The value with every text of more than `longest` UTF-16 units cut, never inside a character. */
function cutTexts(value: unknown, longest: number): unknown {
  if (typeof value === 'string') return value.length <= longest ? value : `${headOf(value, longest)}${CUT}`;
  if (Array.isArray(value)) return value.map((one) => cutTexts(one, longest));
  if (value === null || typeof value !== 'object' || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cutTexts(one, longest)]));
}

const segments = new Intl.Segmenter('en', { granularity: 'grapheme' });

function headOf(text: string, longest: number): string {
  const end = Math.floor(longest);
  const around = segments.segment(text.slice(0, end + 64)).containing(end);
  // A character of more than 64 units is no text that a reader misses.
  return text.slice(0, around ? around.index : end).toWellFormed();
}
