const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

/** A count with three significant digits, such as `2.35M`. */
export function countText(count: number): string {
  return COMPACT.format(count);
}
