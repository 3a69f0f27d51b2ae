/** The time within which every request is answered, in milliseconds (docs/design/requests.md). */
const REQUEST_DEADLINE_MS = 2_000;

// How late a missed deadline may be noticed, in milliseconds.
const STEP_MS = 20;

/** A request that is not answered yet. */
interface Pending {
  /** When it arrived, on this process's monotonic clock in milliseconds. */
  readonly started: number;
}

/** Expires requests that miss the deadline. One timer serves all: a timer for each request would cost as much as its routing. */
export class Deadlines<Request extends Pending> {
  // In order of arrival, which is also the order of their deadlines.
  readonly #pending = new Set<Request>();
  readonly #expire: (request: Request) => void;
  #timer: NodeJS.Timeout | undefined;

  /** `expire` is called for a request that misses its deadline. */
  constructor(expire: (request: Request) => void) {
    this.#expire = expire;
  }

  add(pending: Request): void {
    this.#pending.add(pending);
    this.#timer ??= setInterval(() => this.#check(), STEP_MS);
  }

  remove(pending: Request): void {
    this.#pending.delete(pending);
  }

  #check(): void {
    const due = performance.now() - REQUEST_DEADLINE_MS;
    for (const pending of this.#pending) {
      if (pending.started > due) return;
      this.#pending.delete(pending);
      this.#expire(pending);
    }
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
