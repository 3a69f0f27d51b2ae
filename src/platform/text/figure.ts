const FIGURES = new Intl.NumberFormat('en');

/**
 * `1,234`. One shared formatter: `toLocaleString` creates one per call, a fifth of the time of drawing a log row
 * (measured).
 */
export function figure(count: number): string {
  return FIGURES.format(count);
}
