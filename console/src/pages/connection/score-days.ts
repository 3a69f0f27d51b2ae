import type { ConnectionDetail } from '../../../../src/console/connections/connections.ts';

/** A connection's scores, the oldest first. */
export type History = ConnectionDetail['history'];

/** Scores, the oldest first, to the last of each day in UTC, the latest day first; `day` is such as 2026-01-31. */
export function scoreDays(history: Readonly<History>): { day: string; score: number }[] {
  const days = new Map(history.map(({ at, score }) => [at.slice(0, 10), score]));
  return [...days].map(([day, score]) => ({ day, score })).reverse();
}

const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });

/** The day in UTC of a day or instant, `31 Jan 2026`: before the last week scores are those of such days. */
export function utcDay(at: string | Date): string {
  return DAY.format(new Date(at));
}

/**
 * What a history shows, for those who do not see its line; the oldest first. Within the last week it has the lowest and the highest
 * scores, so "always" is true there; of a day before that it knows the last score alone, and claims no more.
 */
export function scoreText(history: Readonly<History>): string {
  const [first] = history;
  const last = history.at(-1);
  if (!first || !last) return 'No score yet.';
  if (history.length === 1) return `Score on ${utcDay(last.at)}: ${last.score}.`;
  const since = `Score since ${utcDay(first.at)}`;
  const note = first.of_day ? ' Before the last week, only the last score of each day counts.' : '';
  if (history.every(({ score }) => score === last.score))
    return `${since}: ${first.of_day ? '' : 'always '}${last.score}.${note}`;
  const lowest = history.reduce((low, point) => (point.score < low.score ? point : low));
  return `${since}: from ${first.score} to ${last.score}, lowest ${lowest.score} on ${utcDay(lowest.at)}.${note}`;
}

const DAY_SECONDS = 86_400;

/** What the axis spans, in seconds since 1970: at least a day, and nothing after the last score. */
export function timeSpan(times: readonly number[]): [from: number, to: number] {
  const to = times.at(-1) ?? 0;
  return [Math.min(times[0] ?? to, to - DAY_SECONDS), to];
}

/** Two days without a score: the line must not say that something was measured there. */
const GAP_SECONDS = 2 * DAY_SECONDS;

/** The columns of the chart: seconds since 1970, and scores with a null in every gap. */
export function chartColumns(history: Readonly<History>): [number[], (number | null)[]] {
  const times: number[] = [];
  const scores: (number | null)[] = [];
  for (const { at, score } of history) {
    const time = Date.parse(at) / 1000;
    const before = times.at(-1);
    if (before !== undefined && time - before > GAP_SECONDS) {
      times.push((before + time) / 2);
      scores.push(null);
    }
    times.push(time);
    scores.push(score);
  }
  return [times, scores];
}
