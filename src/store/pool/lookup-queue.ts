/** Beyond it a lookup is rejected at once, as at the gate. */
const LONGEST_QUEUE = 5_000;

interface Waiting<Found> {
  readonly hash: Buffer;
  readonly resolve: (found: Found | null) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Looks up the hashes of keys. One batch is under way, and those that are asked for meanwhile form the next. So a million
 * guesses cost the store a few thousand statements, and a valid key does not wait behind them.
 */
export class LookupQueue<Found> {
  readonly #lookUp: (hashes: readonly Buffer[]) => Promise<ReadonlyMap<string, Found>>;
  readonly #full: () => Error;
  #waiting: Waiting<Found>[] = [];
  #isRunning = false;

  /** `lookUp` returns what it found by the hash in latin1. `full` makes the error of a lookup beyond the queue's length. */
  constructor(lookUp: (hashes: readonly Buffer[]) => Promise<ReadonlyMap<string, Found>>, full: () => Error) {
    this.#lookUp = lookUp;
    this.#full = full;
  }

  /** Waits for what the batch of this hash finds; null = nothing. */
  find(hash: Buffer): Promise<Found | null> {
    if (this.#waiting.length >= LONGEST_QUEUE) return Promise.reject(this.#full());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ hash, resolve, reject });
      if (!this.#isRunning) {
        this.#isRunning = true;
        // Others that this turn of the event loop reads from its sockets join the same batch.
        setImmediate(() => void this.#run());
      }
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      try {
        const found = await this.#lookUp(batch.map(({ hash }) => hash));
        for (const { hash, resolve } of batch) resolve(found.get(hash.toString('latin1')) ?? null);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isRunning = false;
  }
}
