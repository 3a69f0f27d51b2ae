/** The most close looks of a monitor at a time, and of one account. A close look is a pulse every second. */
const MOST = { monitor: 100, account: 10 };

/** Which connections have a close look now. */
export class CloseLooks {
  readonly #connections = new Map<number, Set<number>>();
  #count = 0;

  /** Whether the connection may have a close look; it keeps the place until {@link leave}. */
  enter({ accountId, connectionId }: { accountId: number; connectionId: number }): boolean {
    const mine = this.#connections.get(accountId) ?? new Set();
    if (mine.has(connectionId)) return true;
    if (mine.size >= MOST.account || this.#count >= MOST.monitor) return false;
    this.#connections.set(accountId, mine.add(connectionId));
    this.#count++;
    return true;
  }

  leave({ accountId, connectionId }: { accountId: number; connectionId: number }): void {
    const mine = this.#connections.get(accountId);
    if (!mine?.delete(connectionId)) return;
    this.#count--;
    if (mine.size === 0) this.#connections.delete(accountId);
  }
}
