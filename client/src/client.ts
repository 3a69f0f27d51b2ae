import createFetchClient from 'openapi-fetch';
import { ask, type Fetch, type How } from './ask.ts';
import { DbvitalsError } from './error.ts';
import { type FollowOptions, follow } from './follow.ts';
import { type List, list } from './list.ts';
import { type MirrorOptions, mirrorTickets, type TicketBatch } from './mirror-tickets.ts';
import { createNumbers } from './numbers.ts';
import type { NumbersClient } from './numbers-client.ts';
import type * as records from './records.ts';
import type { paths } from './schema.ts';

/** What a client needs to know. */
export interface ClientOptions {
  /** The address of the service: what comes before `/api/v1`. */
  baseUrl: string;
  /** Take it from the environment, not from the source. */
  apiKey: string;
  /** false: a failure is thrown at once, 429 too. Unless so, a 429 is waited for and what may pass is tried again. */
  retry?: boolean | undefined;
  /** Instead of the runtime's own: for a proxy, or to look at what goes by. */
  fetch?: Fetch | undefined;
}

/** Of a single call. */
export interface CallOptions {
  /** Ends the call, its waits too: it throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** The endpoints. Every call throws {@link DbvitalsError}. */
export interface DbvitalsClient extends NumbersClient {
  /** Connections with their latest score, by id. */
  connections(query?: records.ConnectionsQuery, options?: CallOptions): List<records.Connection>;
  /** The latest health check of a connection, worst finding first; `not_found` before the first one. */
  latestCheck(
    connectionId: number,
    options?: CallOptions & records.LatestCheckQuery,
  ): Promise<records.HealthCheckResult>;
  /** Every connection with its status, and a count of each status; filters go with the options. */
  fleet(options?: CallOptions & records.FleetQuery): Promise<records.Fleet>;
  /** Tickets, latest first. */
  tickets(query?: records.TicketsQuery, options?: CallOptions): List<records.Ticket>;
  /** Each change of a ticket once, for ever: for an exact copy of the tickets. */
  mirrorTickets(options?: MirrorOptions, call?: CallOptions): AsyncGenerator<TicketBatch, never, undefined>;
  /** How many tickets are open, and how long they took. */
  ticketStatistics(options?: CallOptions): Promise<records.TicketStatistics>;
  activity: {
    /** The log, latest first; what comes while it is read is left out. */
    (query?: records.ActivityQuery, options?: CallOptions): List<records.ActivityEntry>;
    /** Each entry once, oldest first, for ever: through limits, failures and restarts of the service. */
    follow(
      options: FollowOptions,
      call?: CallOptions,
    ): AsyncGenerator<records.ActivityEntry, never, undefined>;
  };
  /** Members with their roles. */
  members(options?: CallOptions): List<records.Member>;
  /** Roles with their permissions. */
  roles(options?: CallOptions): List<records.Role>;
}

/** The largest page (specification, section 8): the fewest requests. */
const PAGE = { per_page: 100 };

/** A client of a service. Throws {@link DbvitalsError} `invalid_option`; nothing is asked yet. */
export function createClient(options: ClientOptions): DbvitalsClient {
  const api = createFetchClient<paths>({
    baseUrl: checkBaseUrl(options.baseUrl),
    headers: { authorization: `Bearer ${checkKey(options.apiKey)}` },
    redirect: 'manual',
    credentials: 'omit',
  });
  // Looked up at each call: what replaces it later counts too.
  const { fetch = (request: Request) => globalThis.fetch(request), retry = true } = options;
  const how = ({ signal }: CallOptions): How => ({ signal, fetch, retry: retry ? 'some' : 'once' });

  const activity = (query: records.ActivityQuery = {}, call: CallOptions = {}) =>
    list((place) =>
      ask(
        (init) =>
          api.GET('/api/v1/activity', {
            ...init,
            // The document has one type; each of several is a parameter of its own.
            params: { query: { ...PAGE, ...query, ...place } as { action_type?: string } },
          }),
        how(call),
      ),
    );

  return {
    connections: (query = {}, call = {}) =>
      list(({ page }) => {
        const asked = { ...PAGE, ...query, ...(page === undefined ? {} : { page }) };
        return ask(
          (init) => api.GET('/api/v1/health/connections', { ...init, params: { query: asked } }),
          how(call),
        );
      }),
    async latestCheck(id, { signal, ...query } = {}) {
      const { body } = await ask(
        (init) =>
          api.GET('/api/v1/health/connections/{id}/checks/latest', {
            ...init,
            params: { path: { id }, query },
          }),
        how({ signal }),
      );
      return body.data;
    },
    async fleet({ signal, ...query } = {}) {
      const { body } = await ask(
        (init) => api.GET('/api/v1/health/fleet', { ...init, params: { query } }),
        how({ signal }),
      );
      return body;
    },
    tickets: (query = {}, call = {}) =>
      list((place) =>
        ask(
          (init) =>
            api.GET('/api/v1/ops/tickets', { ...init, params: { query: { ...PAGE, ...query, ...place } } }),
          how(call),
        ),
      ),
    mirrorTickets: (options = {}, call = {}) => {
      const signal = call.signal ?? options.signal;
      return mirrorTickets(
        (query) =>
          ask((init) => api.GET('/api/v1/ops/tickets', { ...init, params: { query } }), {
            ...how({ signal }),
            retry: 'always',
          }),
        { ...options, signal },
      );
    },
    async ticketStatistics(call = {}) {
      const { body } = await ask((init) => api.GET('/api/v1/ops/stats', init), how(call));
      return body.data;
    },
    activity: Object.assign(activity, {
      follow: (options: FollowOptions, call: CallOptions = {}) => {
        const signal = call.signal ?? options.signal;
        return follow(
          (query) =>
            ask((init) => api.GET('/api/v1/activity', { ...init, params: { query } }), {
              ...how({ signal }),
              retry: 'always',
            }),
          { ...options, signal },
        );
      },
    }),
    ...createNumbers(api, how),
    members: (call = {}) => list(() => ask((init) => api.GET('/api/v1/team/members', init), how(call))),
    roles: (call = {}) => list(() => ask((init) => api.GET('/api/v1/team/roles', init), how(call))),
  };
}

function checkBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash) {
    return url.href.replace(/\/+$/, '');
  }
  throw new DbvitalsError(
    'invalid_option',
    'baseUrl must be the address of the service alone, such as https://dbvitals.example.com.',
  );
}

/** A header takes no other characters, and the runtime's own complaint would show the key. */
function checkKey(key: string): string {
  if (typeof key === 'string' && /^[\x21-\x7e]+$/.test(key)) return key;
  throw new DbvitalsError(
    'invalid_option',
    'apiKey must be a key of your account, without blanks or line ends: check the variable that it comes from.',
  );
}
