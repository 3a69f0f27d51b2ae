/** How much is provoked: the short form is for CI, the soak is a run of its own. */
export type Extent = 'short' | 'whole' | 'soak';

/** A row of the table: a fault, and the figure that the service must reach under it. */
export interface Fault {
  fault: string;
  figure: string;
  /** Provokes it and says what was seen; what it throws counts as not reached, with its words. */
  provoke: (extent: Extent) => Promise<Seen>;
}

/** What was seen, each part held to its bound. */
export class Seen {
  readonly #parts: string[] = [];
  #reached = true;

  /** Something that must not be there at all. */
  none(count: number, what: string): this {
    return this.#part(`${what} ${count}`, count === 0);
  }

  /** At most `bound` of something, both in `unit`. */
  atMost(value: number, bound: number, what: string, unit = ''): this {
    return this.#part(`${what} ${round(value)}${unit}`, value <= bound);
  }

  /** At least `bound` of something: a load that was too small shows nothing. */
  atLeast(value: number, bound: number, what: string, unit = ''): this {
    return this.#part(`${what} ${round(value)}${unit}`, value >= bound);
  }

  holds(what: string, isSo: boolean): this {
    return this.#part(what, isSo);
  }

  #part(text: string, isSo: boolean): this {
    this.#parts.push(isSo ? text : `NOT REACHED: ${text}`);
    this.#reached &&= isSo;
    return this;
  }

  get reached(): boolean {
    return this.#reached;
  }

  toString(): string {
    return this.#parts.join('; ');
  }
}

function round(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Math.round(value * 100) / 100;
}
