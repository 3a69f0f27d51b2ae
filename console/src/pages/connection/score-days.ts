/** Scores, the oldest first, to the last of each day in UTC, the latest day first; `day` is such as 2026-01-31. */
export function scoreDays(
  history: readonly { at: string; score: number }[],
): { day: string; score: number }[] {
  const days = new Map(history.map(({ at, score }) => [at.slice(0, 10), score]));
  return [...days].map(([day, score]) => ({ day, score })).reverse();
}

const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });

/** The day in UTC of a day or instant, `31 Jan 2026`: before the last week scores are those of such days. */
export function utcDay(at: string | Date): string {
  return DAY.format(new Date(at));
}

/** Two days without a score: the line must not say that something was measured there. */
const GAP_SECONDS = 2 * 86_400;

/** The columns of the chart: seconds since 1970, and scores with a null in every gap. */
export function chartColumns(
  history: readonly { at: string; score: number }[],
): [number[], (number | null)[]] {
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
