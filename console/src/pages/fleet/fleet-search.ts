const STATUSES = ['critical', 'warning', 'stale', 'never_run', 'healthy'] as const;
const SORTS = ['worst', 'name', 'score', 'last_checked_at'] as const;

/** The page's search parameters. By default the worst come first. */
export interface FleetSearch {
  status?: (typeof STATUSES)[number];
  q?: string;
  sort?: (typeof SORTS)[number];
}

/** Parses an untrusted URL. */
export function fleetSearch(given: Record<string, string | undefined>): FleetSearch {
  const status = STATUSES.find((word) => word === given['status']);
  const sort = SORTS.find((word) => word === given['sort']);
  const q = given['q']?.trim().slice(0, 200);
  return { ...(status && { status }), ...(q && { q }), ...(sort && { sort }) };
}
