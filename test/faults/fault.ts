/** The extent of a run: the short form is for CI, the soak is a separate run. */
export type Extent = 'short' | 'whole' | 'soak';

/** A row of the table: a fault and the required result. */
export interface Fault {
  fault: string;
  figure: string;
  /** Causes the fault and returns the result. An error counts as not reached and shows its message. */
  provoke: (extent: Extent) => Promise<Seen>;
  /** It runs tests of `npm test`, which CI has run before the short form. */
  isTested?: true;
}

/** The measured result. Each part is compared with its bound. */
export class Seen {
  readonly #parts: string[] = [];
  #reached = true;
  #onlySlow = true;

  /** A count that must be 0. */
  none(count: number, what: string): this {
    return this.#part(`${what} ${count}`, count === 0);
  }

  /** A value that must be at most `bound`, both in `unit`, which is ` ms`, ` s` or ` times` if it depends on the machine. */
  atMost(value: number, bound: number, what: string, unit = ''): this {
    const isTime = [' ms', ' s', ' times'].includes(unit);
    return this.#part(`${what} ${round(value)}${unit}`, value <= bound, isTime);
  }

  /** A value that must be at least `bound`: a small load proves nothing. */
  atLeast(value: number, bound: number, what: string, unit = ''): this {
    return this.#part(`${what} ${round(value)}${unit}`, value >= bound);
  }

  holds(what: string, isSo: boolean): this {
    return this.#part(what, isSo);
  }

  #part(text: string, isSo: boolean, isTime = false): this {
    this.#parts.push(isSo ? text : `NOT REACHED: ${text}`);
    this.#reached &&= isSo;
    this.#onlySlow &&= isSo || isTime;
    return this;
  }

  get reached(): boolean {
    return this.#reached;
  }

  /** Whether it took longer than it may, and all else is as required. */
  get isSlow(): boolean {
    return !this.#reached && this.#onlySlow;
  }

  toString(): string {
    return this.#parts.join('; ');
  }
}

function round(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Math.round(value * 100) / 100;
}
