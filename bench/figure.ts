/** A measured figure and its limit. */
export interface Figure {
  what: string;
  reach: string;
  seen: string;
  reached: boolean;
}

/** A figure that must be `limit` or more. */
export function atLeast(what: string, limit: number, seen: number): Figure {
  return { what, reach: `at least ${limit}`, seen: shown(seen), reached: seen >= limit };
}

/** A figure that must be `limit` or less. */
export function atMost(what: string, limit: number, seen: number, detail = ''): Figure {
  return { what, reach: `at most ${limit}`, seen: shown(seen) + detail, reached: seen <= limit };
}

/** A figure that must be less than `limit`. */
export function under(what: string, limit: number, seen: number, unit: string, detail = ''): Figure {
  return {
    what,
    reach: `under ${limit} ${unit}`,
    seen: `${shown(seen)} ${unit}${detail}`,
    reached: seen < limit,
  };
}

/** Formats a number with three significant digits. */
export function shown(number: number): string {
  if (number === 0) return '0';
  if (number >= 100) return Math.round(number).toLocaleString('en-US');
  return number.toFixed(number >= 10 ? 1 : number >= 1 ? 2 : 3);
}
