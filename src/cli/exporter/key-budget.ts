/** The part of the key's limit that is left to others. */
const LEFT_TO_OTHERS = 1 / 4;

/** What the key may still ask in its window, by the headers of the latest answer. */
export class KeyBudget {
  #limit = 0;
  #remaining = 0;
  #resetAt = 0;

  answered(headers: Headers): void {
    const read = (name: string) => Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN);
    const [limit, remaining, resetAt] = [read('limit'), read('remaining'), read('reset')];
    if (![limit, remaining, resetAt].every(Number.isFinite)) return;
    this.#limit = limit;
    this.#remaining = remaining;
    this.#resetAt = resetAt;
  }

  /** Whether a request would leave enough to others that use the key; `underWay` requests are not answered yet. */
  hasRoom(underWay: number): boolean {
    if (Date.now() >= this.#resetAt * 1_000) return true;
    return this.#remaining - underWay > this.#limit * LEFT_TO_OTHERS;
  }
}
