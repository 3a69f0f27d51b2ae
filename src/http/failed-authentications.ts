import { LRUCache } from 'lru-cache';
import { networkOf } from '../platform/network/client-network.ts';
import { type Budget, WINDOW_SECONDS } from './rate-headers.ts';

/** How many failed authentications a minute an address may make. */
const LIMIT = 300;

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
    const endsAt = now + WINDOW_SECONDS * 1000;
    if (!window || window.endsAt <= now) return { endsAt, failed: 0 };
    window.endsAt = Math.min(window.endsAt, endsAt); // the clock may have stepped back
    return window;
  }
}
