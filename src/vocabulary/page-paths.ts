/**
 * The paths of the console's pages; `$id` is a parameter. The browser's router and navigation use them, and the
 * server serves the same ones.
 */
export const PAGE_PATHS = {
  home: '/',
  fleet: '/fleet',
  addConnection: '/connections/new',
  connection: '/connections/$id',
  compare: '/compare',
  tickets: '/tickets',
  alerts: '/alerts',
  notifications: '/notifications',
  destination: '/notifications/$id',
  email: '/email/$token',
  thresholds: '/thresholds',
  activity: '/activity',
  keys: '/keys',
  team: '/team',
  account: '/account',
  sessions: '/sessions',
  signIn: '/sign-in',
  link: '/link/$token',
  invitations: '/invitations',
} as const;

/** The paths as the server's router writes them: each parameter is a wildcard. */
export function servedPaths(): string[] {
  return Object.values(PAGE_PATHS).map((path) => path.replace(/\$\w+$/, '*'));
}
