/** The eight endpoints; `1` stands for a connection that an account need not have. */
export const ENDPOINTS = [
  '/api/v1/health/connections',
  '/api/v1/health/connections/1/checks/latest',
  '/api/v1/health/fleet',
  '/api/v1/ops/tickets',
  '/api/v1/ops/stats',
  '/api/v1/activity',
  '/api/v1/team/members',
  '/api/v1/team/roles',
];
