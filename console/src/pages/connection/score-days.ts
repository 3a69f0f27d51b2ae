import type { ConnectionDetail } from '../../../../src/console-api/connections/connection-schemas.ts';

/** A connection's scores, the oldest first. */
export type History = ConnectionDetail['history'];

/** Turns scores, oldest first, into the last score of each UTC day, latest day first; `day` is like 2026-01-31. */
export function scoreDays(history: Readonly<History>): { day: string; score: number }[] {
  const days = new Map(history.map(({ at, score }) => [at.slice(0, 10), score]));
  return [...days].map(([day, score]) => ({ day, score })).reverse();
}

const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });

/** The UTC day of a day or instant, `31 Jan 2026`: scores older than a week are daily. */
export function utcDay(at: string | Date): string {
  return DAY.format(new Date(at));
}

/**
 * A text alternative for a history, oldest first. The last week includes the lowest and highest scores, so "always" is
 * true there. For older days only the last score is known, so the text claims no more.
 */
export function scoreText(history: Readonly<History>): string {
  const inMaintenance = history.some(({ in_maintenance }) => in_maintenance);
  return `${scoresText(history)}${inMaintenance ? ' Some scores are from maintenance windows.' : ''}`;
}

function scoresText(history: Readonly<History>): string {
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

/** From when to when consecutive checks ran in maintenance windows, in seconds since 1970. */
export function maintenanceSpans(history: Readonly<History>): [from: number, to: number][] {
  const spans: [from: number, to: number][] = [];
  let span: [from: number, to: number] | undefined;
  for (const { at, in_maintenance } of history) {
    const time = Date.parse(at) / 1_000;
    if (!in_maintenance) span = undefined;
    else if (span) span[1] = time;
    else {
      span = [time, time];
      spans.push(span);
    }
  }
  return spans;
}

const DAY_SECONDS = 86_400;

/** The time axis, in seconds since 1970: at least a day, ending with the last score. */
export function timeSpan(times: readonly number[]): [from: number, to: number] {
  const to = times.at(-1) ?? 0;
  return [Math.min(times[0] ?? to, to - DAY_SECONDS), to];
}

/** After two days without a score the line breaks, because nothing was measured there. */
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
