/** The time within which every request is answered, in milliseconds (docs/design/requests.md). */
const REQUEST_DEADLINE_MS = 2_000;

// How late a missed deadline may be noticed, in milliseconds.
const STEP_MS = 20;

/** A request that is not answered yet. */
interface Pending {
  /** When it arrived, plus its deliberate delays, on this process's monotonic clock in milliseconds. */
  readonly started: number;
  /** Its place among the pending requests; -1 = it is not one of them. */
  place: number;
}

/** Expires requests that miss the deadline. One timer serves all: a timer for each request would cost as much as its routing. */
export class Deadlines<Request extends Pending> {
  // Not a set: each time it fills its table, V8 keeps the old one with its answered requests until the next full collection
  // (docs/decisions/0012).
  readonly #pending: Request[] = [];
  readonly #expire: (request: Request) => void;
  #timer: NodeJS.Timeout | undefined;

  /** `expire` is called for a request that misses its deadline. */
  constructor(expire: (request: Request) => void) {
    this.#expire = expire;
  }

  add(pending: Request): void {
    pending.place = this.#pending.push(pending) - 1;
    this.#timer ??= setInterval(() => this.#check(), STEP_MS);
  }

  remove(pending: Request): void {
    const { place } = pending;
    if (place === -1) return;
    pending.place = -1;
    const last = this.#pending.pop();
    if (last === undefined || last === pending) return;
    this.#pending[place] = last;
    last.place = place;
  }

  #check(): void {
    const due = performance.now() - REQUEST_DEADLINE_MS;
    for (const pending of this.#pending.filter(({ started }) => started <= due)) {
      this.remove(pending);
      this.#expire(pending);
    }
    if (this.#pending.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
