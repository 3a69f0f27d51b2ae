import { compares, type RuleCondition } from '../alert-rule.ts';

/** A value at a time in Unix seconds; null = not measured, which neither begins nor ends an alert. */
export interface MeasuredPoint {
  at: number;
  value: number | null;
}

/** How often a condition would have fired on these values of one connection, the oldest first. */
export function countFirings(
  points: readonly MeasuredPoint[],
  {
    operator,
    threshold,
    clear_threshold,
    for_seconds,
    for_runs,
  }: Pick<RuleCondition, 'operator' | 'threshold' | 'clear_threshold' | 'for_seconds' | 'for_runs'>,
): number {
  let fired = 0;
  let isOpen = false;
  let since: number | null = null;
  let runs = 0;
  for (const { at, value } of points) {
    if (value === null) continue;
    if (isOpen) {
      isOpen = compares(value, operator, clear_threshold ?? threshold);
      continue;
    }
    const holds = compares(value, operator, threshold);
    since = holds ? (since ?? at) : null;
    runs = holds ? runs + 1 : 0;
    if (since === null || runs < for_runs || at - since < for_seconds) continue;
    fired += 1;
    [isOpen, since, runs] = [true, null, 0];
  }
  return fired;
}
