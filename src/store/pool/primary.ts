import type pg from 'pg';

/** The host of a store's address that is presumably the primary, and the process's connections to each host. */
class Primary {
  readonly #hosts: number;
  readonly #connections = new Map<pg.Client, number>();
  #at = 0;

  constructor(hosts: number) {
    this.#hosts = hosts;
  }

  /** The number of the host for new connections. */
  get at(): number {
    return this.#at;
  }

  /** Directs later connections to the next host, unless another connection has done so already. */
  leave(host: number): void {
    if (this.#at === host) this.#at = (host + 1) % this.#hosts;
  }

  /**
   * A new connection accepts writes. Connections to other hosts end: a former primary may be silent, so that their statements
   * would wait, or may continue after a pause and answer from the past.
   */
  found(host: number, client: pg.Client): void {
    this.#connections.set(client, host);
    client.once('end', () => this.#connections.delete(client));
    for (const [other, at] of this.#connections) if (at !== host) other.connection.stream.destroy();
  }
}

const primaries = new WeakMap<object, Primary>();

/** All pools of a process share the primary of an address. */
export function sharedPrimary(address: readonly unknown[]): Primary {
  const known = primaries.get(address);
  if (known) return known;
  const primary = new Primary(address.length);
  primaries.set(address, primary);
  return primary;
}
