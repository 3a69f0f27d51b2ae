/** The paths of the eight endpoints below `/api/v1`, as routes. A test compares them with those of `server/app.ts`. */
export const ENDPOINT_PATHS = [
  '/health/connections',
  '/health/connections/:id/checks/latest',
  '/health/fleet',
  '/ops/tickets',
  '/ops/stats',
  '/activity',
  '/team/members',
  '/team/roles',
] as const;
