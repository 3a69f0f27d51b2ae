import { LRUCache } from 'lru-cache';
import { type Budget, WINDOW_SECONDS } from './rate-headers.ts';

/** Failed authentications a minute that an address has. */
const LIMIT = 300;

/** Counts failed authentications by client address, in this process; it never stands in a valid key's way. */
export class FailedAuthentications {
  readonly #windows = new LRUCache<string, { endsAt: number; failed: number }>({ max: 50_000 });

  /** The address's budget as it stands. */
  budget(address: string): Budget {
    const now = Date.now();
    const window = this.#windows.get(address);
    const running = window !== undefined && window.endsAt > now;
    const endsAt = running ? window.endsAt : now + WINDOW_SECONDS * 1000;
    return {
      limit: LIMIT,
      remaining: running ? Math.max(LIMIT - window.failed, 0) : LIMIT,
      resetAt: Math.ceil(endsAt / 1000),
      resetIn: Math.max(Math.ceil((endsAt - now) / 1000), 1),
    };
  }

  /** Counts one failure; false when the address's budget was spent already. */
  count(address: string): boolean {
    const now = Date.now();
    const window = this.#windows.get(address);
    if (!window || window.endsAt <= now) {
      this.#windows.set(address, { endsAt: now + WINDOW_SECONDS * 1000, failed: 1 });
      return true;
    }
    if (window.failed >= LIMIT) return false;
    window.failed += 1;
    return true;
  }
}
