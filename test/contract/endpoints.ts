/** The endpoints; `1` stands for a connection that an account need not have. */
export const ENDPOINTS = [
  '/api/v1/health/connections',
  '/api/v1/health/connections/1/checks/latest',
  '/api/v1/health/fleet',
  '/api/v1/ops/tickets',
  '/api/v1/ops/stats',
  '/api/v1/activity',
  '/api/v1/team/members',
  '/api/v1/team/roles',
  '/api/v1/health/connections/1/measures',
  '/api/v1/health/connections/1/measures/history',
  '/api/v1/health/measures',
  '/api/v1/health/connections/1/changes',
  '/api/v1/health/changes',
  '/api/v1/health/connections/1/queries',
  '/api/v1/health/connections/1/episodes',
  '/api/v1/ops/alerts',
  '/api/v1/activity/seals',
];

/** The path with the parameters that its endpoint cannot do without. */
export function askable(path: string): string {
  return /\/health\/measures$|\/history$/.test(path) ? `${path}?metric=connections_used_ratio` : path;
}
