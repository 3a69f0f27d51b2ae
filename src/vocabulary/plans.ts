/** The plans, smallest first. */
export const PLANS = ['individual', 'team', 'business', 'enterprise'] as const;

export type Plan = (typeof PLANS)[number];

// The data groups that each plan includes (specification, section 5).
const INCLUDED: Readonly<Record<string, readonly string[]>> = {
  individual: [],
  team: ['health'],
  business: ['health', 'ops'],
  enterprise: ['health', 'ops', 'activity', 'team'],
} satisfies Record<Plan, readonly string[]>;

const GROUPS = new Set(INCLUDED['enterprise']);

/** Whether the plan includes the API. A plan without the API has no rate limit either. */
export function hasAccess(plan: string): boolean {
  return (INCLUDED[plan] ?? []).length > 0;
}

/**
 * Whether the plan includes `path` (such as `/api/v1/ops/stats`), judged only by the prefix of its group. A path
 * outside all groups is in every plan except Individual, so that it is answered with 404.
 */
export function includes(plan: string, path: string): boolean {
  if (!hasAccess(plan)) return false;
  const group = /^\/api\/v1\/([^/]+)/.exec(path)?.[1] ?? '';
  return !GROUPS.has(group) || (INCLUDED[plan] ?? []).includes(group);
}
