/** No request waits longer than this for its answer, in milliseconds (docs/design/requests.md). */
const REQUEST_DEADLINE_MS = 2_000;

// How late a request's end may be noticed, in milliseconds.
const STEP_MS = 20;

/** A request on its way. */
export interface Pending {
  /** When it came in, on this process's monotonic clock in milliseconds. */
  readonly started: number;
  /** Its time is over. */
  expire(): void;
}

/** Ends what takes too long, with one timer for all: one for each request would cost as much as its routing. */
export class Deadlines {
  // In the order in which they came in, which is that in which they end.
  readonly #pending = new Set<Pending>();
  #timer: NodeJS.Timeout | undefined;

  add(pending: Pending): void {
    this.#pending.add(pending);
    this.#timer ??= setInterval(() => this.#check(), STEP_MS);
  }

  remove(pending: Pending): void {
    this.#pending.delete(pending);
  }

  #check(): void {
    const due = performance.now() - REQUEST_DEADLINE_MS;
    for (const pending of this.#pending) {
      if (pending.started > due) return;
      this.#pending.delete(pending);
      pending.expire();
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
