import { dayOrInstant, rangeEnd, rangeStart } from '../day.ts';

const DAY = 86_400;

/** The ranges of charts, with their length in seconds. 13 months are 397 days at most. */
export const RANGES = [
  { id: '1h', label: '1 h', words: 'the last hour', seconds: 3_600 },
  { id: '24h', label: '24 h', words: 'the last 24 hours', seconds: DAY },
  { id: '7d', label: '7 d', words: 'the last 7 days', seconds: 7 * DAY },
  { id: '30d', label: '30 d', words: 'the last 30 days', seconds: 30 * DAY },
  { id: '13mo', label: '13 months', words: 'the last 13 months', seconds: 397 * DAY },
] as const;

type Range = (typeof RANGES)[number];
export type RangeId = Range['id'];

/** The range of a page's charts in its URL. `from` and `to` are a day or an instant: a zoom, or a custom range. */
export interface RangeSearch {
  range?: RangeId;
  from?: string;
  to?: string;
}

const STANDARD = RANGES[1];
/** No zoom goes further: runs are at least 10 seconds apart. */
const SHORTEST = 120;
const LONGEST = RANGES[4].seconds;

/** Parses an untrusted URL. */
export function rangeSearch(given: Record<string, string | undefined>): RangeSearch {
  const range = RANGES.find(({ id }) => id === given['range'])?.id;
  const from = dayOrInstant(given['from']);
  const to = dayOrInstant(given['to']);
  return { ...(range && { range }), ...(from && { from }), ...(to && { to }) };
}

/** The chosen preset; 24 hours by default. */
export function presetOf({ range }: RangeSearch): Range {
  return RANGES.find(({ id }) => id === range) ?? STANDARD;
}

/** The times of a chart, in Unix seconds. */
export interface Span {
  from: number;
  to: number;
}

/**
 * The times that a URL asks for; `now` in Unix seconds. A preset begins no earlier than `since`: what is younger than the range shows
 * its life so far.
 */
export function spanOf(search: RangeSearch, now: number, since = 0): Span {
  const { seconds } = presetOf(search);
  if (search.from === undefined && search.to === undefined)
    return { from: Math.min(Math.max(now - seconds, since), now - SHORTEST), to: now };
  const end = search.to === undefined ? now : Date.parse(rangeEnd(search.to) ?? '') / 1_000;
  const start = search.from === undefined ? end - seconds : Date.parse(rangeStart(search.from) ?? '') / 1_000;
  const to = Math.min(end, now);
  return { from: Math.max(Math.min(start, to - SHORTEST), to - LONGEST), to };
}

/** The span around `centre`, `factor` times as long, within what can be shown; `now` in Unix seconds. */
export function zoomed({ from, to }: Span, centre: number, factor: number, now: number): Span {
  const length = Math.min(Math.max((to - from) * factor, SHORTEST), LONGEST);
  // The centre keeps its place.
  const start = centre - ((centre - from) / (to - from)) * length;
  const end = Math.min(start + length, now);
  return { from: end - length, to: end };
}

/** How often a preset moves on, in milliseconds: often enough that no pixel of a chart is out of date. */
export function movesEvery(search: RangeSearch): number {
  return Math.max(60, presetOf(search).seconds / 1_440) * 1_000;
}

/** From a day before something was first seen until an hour after it was over, or until now. Both in RFC 3339. */
export function rangeAround(first: string, over: string | null): RangeSearch {
  const from = Date.parse(first) / 1_000 - DAY;
  if (over === null) return { from: new Date(from * 1_000).toISOString() };
  return searchOf({ from, to: Date.parse(over) / 1_000 + 3_600 });
}

/** A span as the `from` and `to` of a URL. */
export function searchOf({ from, to }: Span): { from: string; to: string } {
  return { from: new Date(from * 1_000).toISOString(), to: new Date(to * 1_000).toISOString() };
}
