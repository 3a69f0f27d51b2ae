import { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import type { ComponentType, ReactNode } from 'react';
import { PAGE_PATHS } from '../../src/vocabulary/page-paths.ts';
import { ApiError, get } from './api.ts';
import { BASE_PATH } from './base-path.ts';
import { activitySearch } from './pages/activity/activity-search.ts';
import { alertsSearch } from './pages/alerts/alerts-search.ts';
import { checksSearch } from './pages/checks/checks-search.ts';
import { collectorsSearch } from './pages/collectors/collectors-search.ts';
import { compareSearch } from './pages/compare/compare-search.ts';
import { connectionSearch } from './pages/connection/connection-search.ts';
import { fleetSearch } from './pages/fleet/fleet-search.ts';
import { invitationsSearch } from './pages/invitations/invitations-search.ts';
import { keysSearch } from './pages/keys/keys-search.ts';
import { destinationSearch, notificationsSearch } from './pages/notifications/notifications-search.ts';
import { signInSearch } from './pages/sign-in/sign-in-search.ts';
import { thresholdsSearch } from './pages/thresholds/thresholds-search.ts';
import { ticketsSearch } from './pages/tickets/tickets-search.ts';
import { findNeeds, Guarded, type Needs, type Place } from './shell/guarded.tsx';
import { NotFound } from './shell/not-found.tsx';
import { PageError } from './shell/page-error.tsx';
import { profileQuery } from './shell/profile.ts';
import { Shell } from './shell/shell.tsx';
import { StartError } from './shell/start-error.tsx';
import { Starting } from './shell/starting.tsx';
import { useTimeZone } from './time-zone.ts';

/** The longest Retry-After that a page waits for by itself, in seconds. */
const SHORT_WAIT = 5;

/** Retry network errors, restarts, and what a person asked too fast. Any other refusal of the service would only be repeated. */
function isWorthRetry(failures: number, error: Error): boolean {
  if (failures >= 2) return false;
  if (!(error instanceof ApiError) || error.status >= 500) return true;
  return error.status === 429 && error.retryAfter !== null && error.retryAfter <= SHORT_WAIT;
}

/** How long to wait before that, in milliseconds. */
function retryDelay(failures: number, error: Error): number {
  const told = error instanceof ApiError ? error.retryAfter : null;
  return (told ?? 2 ** failures) * 1_000;
}

export const queryClient = new QueryClient({
  defaultOptions: {
    // `always`: a browser that thinks it is offline may still reach a service on its own machine.
    queries: { retry: isWorthRetry, retryDelay, staleTime: 15_000, networkMode: 'always' },
    mutations: { retry: false, networkMode: 'always' },
  },
});

/**
 * Loads a page's file. If that fails, asks the service: it is either down, and the error says so, or it has a new
 * version, and the router reloads the page.
 */
function fileOf<Module>(load: () => Promise<Module>): () => Promise<Module> {
  return () =>
    load().catch(async (missing: unknown) => {
      await get('/me');
      throw missing;
    });
}

type Load<Name extends string> = () => Promise<Record<Name, () => ReactNode>>;

/**
 * The component of a page, loaded when it is first needed. It renders again when another time zone is chosen. Members whose roles
 * lack what the page `needs` see that instead.
 */
function lazyPage<Name extends string>(load: Load<Name>, name: Name, needs?: Needs) {
  const page = lazyRouteComponent<Record<string, () => ReactNode>, string>(fileOf(load), name);
  const shown = <InTimeZone page={page} />;
  return Object.assign(() => (needs ? <Guarded {...needs}>{shown}</Guarded> : shown), {
    preload: async () => page.preload?.(),
  });
}

function InTimeZone({ page: Page }: { page: ComponentType }) {
  useTimeZone();
  return <Page />;
}

const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFound,
});

/** The pages that need a session. Without one, the sign-in page opens first and returns to the page. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'in',
  component: Shell,
  pendingComponent: Starting,
  errorComponent: StartError,
  async beforeLoad({ context, location }) {
    try {
      await context.queries.ensureQueryData(profileQuery);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 401)) throw error;
      throw redirect({ to: PAGE_PATHS.signIn, search: location.href === '/' ? {} : { next: location.href } });
    }
  },
});

const home = createRoute({
  getParentRoute: () => signedIn,
  path: PAGE_PATHS.home,
  beforeLoad: () => {
    throw redirect({ to: PAGE_PATHS.fleet, replace: true });
  },
});

type PagePath = (typeof PAGE_PATHS)[keyof typeof PAGE_PATHS];

/** Parses the search parameters of a page, which are untrusted. */
type Parse<Search> = (given: Record<string, string>) => Search;

/** Of a page without search parameters. */
const NONE: Parse<object> = () => ({});

/** A page of members who have signed in, and have the permission that it needs. */
function page<const Path extends PagePath, Search extends object, Name extends string>(
  path: Path,
  validateSearch: Parse<Search>,
  load: Load<Name>,
  name: Name,
  needs?: Needs,
) {
  const component = lazyPage(load, name, needs);
  return createRoute({ getParentRoute: () => signedIn, path, validateSearch, component });
}

/** A page of the navigation, which says what the page needs. */
function place<const Path extends Place, Search extends object, Name extends string>(
  path: Path,
  validateSearch: Parse<Search>,
  load: Load<Name>,
  name: Name,
) {
  return page(path, validateSearch, load, name, findNeeds(path));
}

/** A page that needs no session. */
function openPage<const Path extends PagePath, Search extends object, Name extends string>(
  path: Path,
  validateSearch: Parse<Search>,
  load: Load<Name>,
  name: Name,
) {
  const component = lazyPage(load, name);
  return createRoute({ getParentRoute: () => root, path, validateSearch, component });
}

const fleet = page('/fleet', fleetSearch, () => import('./pages/fleet/fleet.tsx'), 'FleetPage');
const addConnection = page(
  '/connections/new',
  NONE,
  () => import('./pages/add-connection/add-connection.tsx'),
  'AddConnectionPage',
  { title: 'Add connection', permission: 'connections:write' },
);
const connection = page(
  '/connections/$id',
  connectionSearch,
  () => import('./pages/connection/connection.tsx'),
  'ConnectionPage',
  { title: 'Connection', permission: 'health:read' },
);
const compare = page('/compare', compareSearch, () => import('./pages/compare/compare.tsx'), 'ComparePage', {
  title: 'Compare connections',
  permission: 'health:read',
});
const tickets = place('/tickets', ticketsSearch, () => import('./pages/tickets/tickets.tsx'), 'TicketsPage');
const alerts = place('/alerts', alertsSearch, () => import('./pages/alerts/alerts.tsx'), 'AlertsPage');

// Messages of older versions link to it.
const alert = createRoute({
  getParentRoute: () => signedIn,
  path: PAGE_PATHS.alert,
  beforeLoad: ({ params: { id } }) => {
    throw redirect({
      to: PAGE_PATHS.alerts,
      search: alertsSearch(id === 'rules' ? { view: id } : { alert: id }),
      replace: true,
    });
  },
});

const notifications = place(
  '/notifications',
  notificationsSearch,
  () => import('./pages/notifications/notifications.tsx'),
  'NotificationsPage',
);
const destination = page(
  '/notifications/$id',
  destinationSearch,
  () => import('./pages/notifications/destination-page.tsx'),
  'DestinationPage',
  { title: 'Destination', permission: 'health:read' },
);
const thresholds = place(
  '/thresholds',
  thresholdsSearch,
  () => import('./pages/thresholds/thresholds.tsx'),
  'ThresholdsPage',
);
const checks = place('/checks', checksSearch, () => import('./pages/checks/checks.tsx'), 'ChecksPage');
const activity = place(
  '/activity',
  activitySearch,
  () => import('./pages/activity/activity.tsx'),
  'ActivityPage',
);
const keys = place('/keys', keysSearch, () => import('./pages/keys/keys.tsx'), 'KeysPage');
const collectors = place(
  '/collectors',
  collectorsSearch,
  () => import('./pages/collectors/collectors.tsx'),
  'CollectorsPage',
);
const team = page('/team', NONE, () => import('./pages/team/team.tsx'), 'TeamPage');
const account = place('/account', NONE, () => import('./pages/account/account.tsx'), 'AccountPage');
const sessions = page('/sessions', NONE, () => import('./pages/sessions/sessions.tsx'), 'SessionsPage');
const signIn = openPage('/sign-in', signInSearch, () => import('./pages/sign-in/sign-in.tsx'), 'SignInPage');
const link = openPage('/link/$token', NONE, () => import('./pages/link/link.tsx'), 'LinkPage');
const email = openPage('/email/$token', NONE, () => import('./pages/email/email.tsx'), 'EmailPage');
const invitations = openPage(
  '/invitations',
  invitationsSearch,
  () => import('./pages/invitations/invitations.tsx'),
  'InvitationsPage',
);

const pages = [
  home,
  fleet,
  addConnection,
  connection,
  compare,
  tickets,
  alerts,
  alert,
  notifications,
  destination,
  thresholds,
  checks,
  activity,
  keys,
  collectors,
  team,
  account,
  sessions,
];

export const router = createRouter({
  basepath: BASE_PATH || '/',
  routeTree: root.addChildren([signedIn.addChildren(pages), signIn, link, email, invitations]),
  context: { queries: queryClient },
  defaultPreload: 'intent',
  defaultPendingMs: 150,
  defaultErrorComponent: PageError,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true,
  // Otherwise the router passes on search parameters that a page's validator dropped.
  search: { strict: true },
  // URLs look like the API's, `?status=open&connection_id=3`: every value is a string and appears once.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
    const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
    return text && `?${text}`;
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
