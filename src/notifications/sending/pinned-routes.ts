import type { Agent } from 'node:http';
import https from 'node:https';
import { type Address, DESTINATION, pinnedLookup, resolveTarget } from '../../platform/network/address.ts';
import { plainHttp } from '../../platform/network/plain-http.ts';
import { hostOf } from './check-url.ts';
import { LIMITS } from './send-limits.ts';

/** How an origin is reached: connections of this agent go only to addresses that were vetted. */
export interface Route {
  agent: Agent;
  addresses: readonly Address[];
}

/** The routes to origins. Each is resolved and judged again after 60 s, or when a connection by it failed. */
export class Routes {
  readonly #allowPrivate: boolean;
  readonly #routes = new Map<string, { route: Route; until: number }>();

  constructor(allowPrivate: boolean) {
    this.#allowPrivate = allowPrivate;
  }

  /** Throws ForbiddenAddress, or what the resolver throws: a failed lookup is a failure. */
  async to(url: URL): Promise<Route> {
    const now = performance.now();
    for (const [origin, { until }] of this.#routes) if (until <= now) this.#routes.delete(origin);
    const known = this.#routes.get(url.origin);
    if (known) return known.route;
    const addresses = await resolveTarget(hostOf(url), this.#allowPrivate, DESTINATION);
    // Idle connections of an agent that is no longer used close by themselves.
    const options = {
      keepAlive: true,
      maxFreeSockets: 2,
      timeout: LIMITS.idleMs,
      lookup: pinnedLookup(addresses),
    };
    const agent = url.protocol === 'https:' ? new https.Agent(options) : new plainHttp.Agent(options);
    const route = { agent, addresses };
    this.#routes.set(url.origin, { route, until: now + LIMITS.addressMs });
    return route;
  }

  forget(url: URL): void {
    this.#routes.delete(url.origin);
  }
}
