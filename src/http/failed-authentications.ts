import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { type Budget, WINDOW_SECONDS } from './rate-headers.ts';

/** How many failed authentications a minute an address may make. */
const LIMIT = 300;

// A client with one IPv6 address has 2^64 of them, so its network counts.
const IPV6_NETWORK_BITS = 64;

/** The failures of an address, and when its window ends, in Unix milliseconds. */
interface Window {
  endsAt: number;
  failed: number;
}

/** Counts failed authentications by client address, for IPv6 by /64 network. Valid keys are never affected. */
export class FailedAuthentications {
  readonly #windows = new LRUCache<string, Window>({ max: 50_000 });

  /** Returns the current budget of the address. */
  budget(address: string): Budget {
    const now = Date.now();
    const { endsAt, failed } = this.#window(address, now);
    return {
      limit: LIMIT,
      remaining: Math.max(LIMIT - failed, 0),
      resetAt: Math.ceil(endsAt / 1000),
      resetIn: Math.max(Math.ceil((endsAt - now) / 1000), 1),
    };
  }

  /** Counts one failure; false = the address's budget was already spent. */
  count(address: string): boolean {
    const window = this.#window(address, Date.now());
    if (window.failed >= LIMIT) return false;
    window.failed += 1;
    this.#windows.set(networkOf(address), window);
    return true;
  }

  #window(address: string, now: number): Window {
    const window = this.#windows.get(networkOf(address));
    return window && window.endsAt > now ? window : { endsAt: now + WINDOW_SECONDS * 1000, failed: 0 };
  }
}

/** What an address counts as: an IPv4 address as itself, an IPv6 address as its /64 network. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address;
  return ipaddr.IPv6.networkAddressFromCIDR(`${address}/${IPV6_NETWORK_BITS}`).toString();
}
