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
  // The address of an alert in messages of older versions.
  alert: '/alerts/$id',
  notifications: '/notifications',
  destination: '/notifications/$id',
  email: '/email/$token',
  thresholds: '/thresholds',
  checks: '/checks',
  activity: '/activity',
  keys: '/keys',
  collectors: '/collectors',
  team: '/team',
  account: '/account',
  sessions: '/sessions',
  signIn: '/sign-in',
  link: '/link/$token',
  invitations: '/invitations',
} as const;

/** The addresses of single things in the console. Messages and the log have no other ones, so that each opens a page. */
export const PAGE_LINKS = {
  alert: (id: number) => `/alerts?alert=${id}` as const,
  alertRules: () => '/alerts?view=rules' as const,
  collector: (id: number) => `/collectors?collector=${id}` as const,
  connection: (id: number) => `/connections/${id}` as const,
  fleet: () => '/fleet' as const,
  destination: (id: number) => `/notifications/${id}` as const,
  key: (id: number) => `/keys?key=${id}` as const,
  ticket: (id: number) => `/tickets?status=all&ticket=${id}` as const,
};

/** An address that {@link PAGE_LINKS} made. */
export type PageLink = ReturnType<(typeof PAGE_LINKS)[keyof typeof PAGE_LINKS]>;

/** The paths as the server's router writes them: each parameter is a wildcard. */
export function servedPaths(): string[] {
  return Object.values(PAGE_PATHS).map((path) => path.replace(/\$\w+$/, '*'));
}
