/** The word that differs the least from a mistyped one; undefined if none is similar. */
export function nearestWord(typed: string, words: readonly string[]): string | undefined {
  const near = words
    .map((word) => ({ word, distance: word.includes(typed) ? 0 : distance(typed, word) }))
    .filter(({ word, distance: far }) => far <= Math.max(2, word.length / 3));
  return near.toSorted((a, b) => a.distance - b.distance)[0]?.word;
}

/** How many letters to add, remove or replace (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, n) => n);
  for (const [n, letter] of [...from].entries()) {
    const next = [n + 1];
    for (let m = 1; m <= to.length; m++) {
      const replaced = (row[m - 1] ?? 0) + (to[m - 1] === letter ? 0 : 1);
      next.push(Math.min(replaced, (row[m] ?? 0) + 1, (next[m - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
