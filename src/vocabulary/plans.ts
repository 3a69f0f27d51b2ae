/** The plans, smallest first. */
export const PLANS = ['individual', 'team', 'business', 'enterprise'] as const;

export type Plan = (typeof PLANS)[number];

/** The groups of endpoints, after which their paths are named: `/api/v1/health/…`. A key's scopes are some of them. */
export const ENDPOINT_GROUPS = ['health', 'ops', 'activity', 'team'] as const;

export type EndpointGroup = (typeof ENDPOINT_GROUPS)[number];

// The groups that each plan includes (specification, section 5).
const INCLUDED: Readonly<Record<string, readonly string[]>> = {
  individual: [],
  team: ['health'],
  business: ['health', 'ops'],
  enterprise: ENDPOINT_GROUPS,
} satisfies Record<Plan, readonly EndpointGroup[]>;

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
  const group = groupOf(path);
  return group === null || (INCLUDED[plan] ?? []).includes(group);
}

/** Whether a key with these scopes reaches `path`; null = all groups. A path outside all groups is in every scope. */
export function isInScope(scopes: readonly string[] | null, path: string): boolean {
  const group = scopes === null ? null : groupOf(path);
  return scopes === null || group === null || scopes.includes(group);
}

function groupOf(path: string): EndpointGroup | null {
  const name = /^\/api\/v1\/([^/]+)/.exec(path)?.[1];
  return ENDPOINT_GROUPS.find((group) => group === name) ?? null;
}
