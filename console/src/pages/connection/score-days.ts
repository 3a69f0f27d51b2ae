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

/** What a history shows, for those who do not see its line; the oldest first. */
export function scoreWords(history: readonly { at: string; score: number }[]): string {
  const [first] = history;
  const last = history.at(-1);
  if (!first || !last) return 'No score yet.';
  if (history.length === 1) return `One score so far: ${last.score}.`;
  const since = `Score since ${utcDay(first.at)}`;
  if (history.every(({ score }) => score === last.score)) return `${since}: always ${last.score}.`;
  const lowest = history.reduce((low, point) => (point.score < low.score ? point : low));
  return `${since}: from ${first.score} to ${last.score}, lowest ${lowest.score} on ${utcDay(lowest.at)}.`;
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
