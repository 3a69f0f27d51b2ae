/** A name that a resolver has not answered for so long, and then fails, hangs. */
const HANGS_MS = 1_500;

/**
 * How many lookups may be under way of names that nobody has asked for yet, and of names that hung the last time. A lookup takes a thread for as
 * long as the resolver hangs. Of the 64 that a child has for lookups (child-environment.ts), the others are for names that were answered.
 */
const ROOM = { unknown: 44, hanging: 12 };

/** How many names it remembers. */
const MOST_NAMES = 10_000;

type Kind = keyof typeof ROOM | 'answered';

/** Lookups of host names: one at a time of each name, and names that hang take no thread from those that are answered. */
export class Lookups<Found> {
  readonly #find: (host: string) => Promise<Found>;
  readonly #hangsMs: number;
  readonly #running = new Map<string, Promise<Found>>();
  readonly #kinds = new Map<string, Kind>();
  readonly #counts = { unknown: 0, hanging: 0 };
  readonly #waiting: Record<keyof typeof ROOM, (() => void)[]> = { unknown: [], hanging: [] };

  constructor(find: (host: string) => Promise<Found>, hangsMs = HANGS_MS) {
    this.#find = find;
    this.#hangsMs = hangsMs;
  }

  look(host: string): Promise<Found> {
    const running = this.#running.get(host);
    if (running) return running;
    const started = this.#look(host).finally(() => this.#running.delete(host));
    this.#running.set(host, started);
    return started;
  }

  async #look(host: string): Promise<Found> {
    const kind = this.#kinds.get(host) ?? 'unknown';
    if (kind !== 'answered') await this.#enter(kind);
    const began = performance.now();
    try {
      const found = await this.#find(host);
      this.#remember(host, 'answered');
      return found;
    } catch (error) {
      this.#remember(host, performance.now() - began < this.#hangsMs ? 'answered' : 'hanging');
      throw error;
    } finally {
      if (kind !== 'answered') this.#leave(kind);
    }
  }

  #enter(kind: keyof typeof ROOM): Promise<void> | null {
    if (this.#counts[kind] < ROOM[kind]) {
      this.#counts[kind]++;
      return null;
    }
    return new Promise((resolve) => this.#waiting[kind].push(resolve));
  }

  /** Gives the place to the next one. */
  #leave(kind: keyof typeof ROOM): void {
    const next = this.#waiting[kind].shift();
    if (next) next();
    else this.#counts[kind]--;
  }

  #remember(host: string, kind: Kind): void {
    this.#kinds.delete(host);
    this.#kinds.set(host, kind);
    const [oldest] = this.#kinds.keys();
    if (this.#kinds.size > MOST_NAMES && oldest !== undefined) this.#kinds.delete(oldest);
  }
}
