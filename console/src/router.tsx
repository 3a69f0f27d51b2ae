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
import { findNeeds, Guarded, type Needs } from './shell/guarded.tsx';
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

/**
 * The component of a page, loaded when it is first needed. It renders again when another time zone is chosen. Members whose roles
 * lack what the page `needs` see that instead.
 */
function lazyPage<Name extends string>(
  load: () => Promise<Record<Name, () => ReactNode>>,
  name: Name,
  needs?: Needs,
) {
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

const fleet = createRoute({
  getParentRoute: () => signedIn,
  path: PAGE_PATHS.fleet,
  validateSearch: fleetSearch,
  component: lazyPage(() => import('./pages/fleet/fleet.tsx'), 'FleetPage'),
});

const addConnection = createRoute({
  getParentRoute: () => signedIn,
  path: PAGE_PATHS.addConnection,
  component: lazyPage(() => import('./pages/add-connection/add-connection.tsx'), 'AddConnectionPage', {
    title: 'Add connection',
    permission: 'connections:write',
  }),
});

const connection = createRoute({
  getParentRoute: () => signedIn,
  path: PAGE_PATHS.connection,
  validateSearch: connectionSearch,
  component: lazyPage(() => import('./pages/connection/connection.tsx'), 'ConnectionPage', {
    title: 'Connection',
    permission: 'health:read',
  }),
});

const compare = createRoute({
  getParentRoute: () => signedIn,
  path: PAGE_PATHS.compare,
  validateSearch: compareSearch,
  component: lazyPage(() => import('./pages/compare/compare.tsx'), 'ComparePage', {
    title: 'Compare connections',
    permission: 'health:read',
  }),
});

const tickets = createRoute({
  getParentRoute: () => signedIn,
  path: PAGE_PATHS.tickets,
  validateSearch: ticketsSearch,
  component: lazyPage(
    () => import('./pages/tickets/tickets.tsx'),
    'TicketsPage',
    findNeeds(PAGE_PATHS.tickets),
  ),
});

const alerts = createRoute({
  getParentRoute: () => signedIn,
  path: PAGE_PATHS.alerts,
  validateSearch: alertsSearch,
  component: lazyPage(() => import('./pages/alerts/alerts.tsx'), 'AlertsPage', findNeeds(PAGE_PATHS.alerts)),
});

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

const notifications = createRoute({
  getParentRoute: () => signedIn,
  path: PAGE_PATHS.notifications,
  validateSearch: notificationsSearch,
  component: lazyPage(
    () => import('./pages/notifications/notifications.tsx'),
    'NotificationsPage',
    findNeeds(PAGE_PATHS.notifications),
  ),
});

const destination = createRoute({
  getParentRoute: () => signedIn,
  path: PAGE_PATHS.destination,
  validateSearch: destinationSearch,
  component: lazyPage(() => import('./pages/notifications/destination-page.tsx'), 'DestinationPage', {
    title: 'Destination',
    permission: 'health:read',
  }),
});

const thresholds = createRoute({
  getParentRoute: () => signedIn,
  path: PAGE_PATHS.thresholds,
  validateSearch: thresholdsSearch,
  component: lazyPage(
    () => import('./pages/thresholds/thresholds.tsx'),
    'ThresholdsPage',
    findNeeds(PAGE_PATHS.thresholds),
  ),
});

const checks = createRoute({
  getParentRoute: () => signedIn,
  path: PAGE_PATHS.checks,
  validateSearch: checksSearch,
  component: lazyPage(() => import('./pages/checks/checks.tsx'), 'ChecksPage', findNeeds(PAGE_PATHS.checks)),
});

const activity = createRoute({
  getParentRoute: () => signedIn,
  path: PAGE_PATHS.activity,
  validateSearch: activitySearch,
  component: lazyPage(
    () => import('./pages/activity/activity.tsx'),
    'ActivityPage',
    findNeeds(PAGE_PATHS.activity),
  ),
});

const keys = createRoute({
  getParentRoute: () => signedIn,
  path: PAGE_PATHS.keys,
  validateSearch: keysSearch,
  component: lazyPage(() => import('./pages/keys/keys.tsx'), 'KeysPage', findNeeds(PAGE_PATHS.keys)),
});

const collectors = createRoute({
  getParentRoute: () => signedIn,
  path: PAGE_PATHS.collectors,
  validateSearch: collectorsSearch,
  component: lazyPage(
    () => import('./pages/collectors/collectors.tsx'),
    'CollectorsPage',
    findNeeds(PAGE_PATHS.collectors),
  ),
});

const team = createRoute({
  getParentRoute: () => signedIn,
  path: PAGE_PATHS.team,
  component: lazyPage(() => import('./pages/team/team.tsx'), 'TeamPage'),
});

const account = createRoute({
  getParentRoute: () => signedIn,
  path: PAGE_PATHS.account,
  component: lazyPage(
    () => import('./pages/account/account.tsx'),
    'AccountPage',
    findNeeds(PAGE_PATHS.account),
  ),
});

const sessions = createRoute({
  getParentRoute: () => signedIn,
  path: PAGE_PATHS.sessions,
  component: lazyPage(() => import('./pages/sessions/sessions.tsx'), 'SessionsPage'),
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: PAGE_PATHS.signIn,
  validateSearch: signInSearch,
  component: lazyPage(() => import('./pages/sign-in/sign-in.tsx'), 'SignInPage'),
});

const link = createRoute({
  getParentRoute: () => root,
  path: PAGE_PATHS.link,
  component: lazyPage(() => import('./pages/link/link.tsx'), 'LinkPage'),
});

const email = createRoute({
  getParentRoute: () => root,
  path: PAGE_PATHS.email,
  component: lazyPage(() => import('./pages/email/email.tsx'), 'EmailPage'),
});

const invitations = createRoute({
  getParentRoute: () => root,
  path: PAGE_PATHS.invitations,
  validateSearch: invitationsSearch,
  component: lazyPage(() => import('./pages/invitations/invitations.tsx'), 'InvitationsPage'),
});

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
