/** A text alternative for a trend: scores, oldest first, null for days without one. */
export function trendText(trend: readonly (number | null)[]): string {
  const scores = trend.filter((score) => score !== null);
  const [first] = scores;
  const last = scores.at(-1);
  if (first === undefined || last === undefined) return 'no score in the last 30 days';
  if (scores.length === 1) return `score of the last 30 days: ${first}`;
  const lowest = Math.min(...scores);
  const dip = lowest < Math.min(first, last) ? `, lowest ${lowest}` : '';
  return `score of the last 30 days: from ${first} to ${last}${dip}`;
}
