import type { Check } from './check.ts';

/** A finding of the connection attempt itself: the database did not answer. */
export const CONN_UNREACHABLE = {
  id: 'CONN_UNREACHABLE',
  title: 'Database unreachable',
  category: 'availability',
  maxSeverity: 'critical',
  volatile: false,
} as const satisfies Partial<Check>;

/** The finding of a run whose checks did not look at everything: there are too many objects, or the time was over. */
export const CONN_CHECKS_INCOMPLETE = {
  id: 'CONN_CHECKS_INCOMPLETE',
  title: 'Checks incomplete',
  category: 'availability',
  maxSeverity: 'warning',
  volatile: false,
} as const satisfies Partial<Check>;

/** A finding of the connection attempt itself: the database refused the credentials. */
export const CONN_AUTH_FAILED = {
  id: 'CONN_AUTH_FAILED',
  title: 'Credentials refused',
  category: 'availability',
  maxSeverity: 'critical',
  volatile: false,
} as const satisfies Partial<Check>;

/** The findings that every engine has, besides those of its checks. */
export const connectionFindings = [CONN_UNREACHABLE, CONN_AUTH_FAILED, CONN_CHECKS_INCOMPLETE];
