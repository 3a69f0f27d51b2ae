import type { Check } from './check.ts';

/** Checks by cost. Those of security come first too, because a run whose time is over must not lack them. */
export function cheapestFirst(checks: readonly Check[]): Check[] {
  return checks.toSorted((one, other) => rank(one) - rank(other));
}

function rank({ category, cost }: Check): number {
  return category === 'security' ? 0 : (cost ?? 0);
}
