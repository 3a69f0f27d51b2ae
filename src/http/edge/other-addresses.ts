import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';

/**
 * Listens on those of a host's `addresses` that `server` does not listen on: Node uses only the first address of a name such as
 * `localhost`. `server` handles all connections, so its limits, its certificate and its handling of errors hold for them.
 * An address that can't be used is skipped; throws if another program uses the port there. The returned function accepts no
 * more connections, and waits until those that it accepted are closed.
 */
export async function listenOnOtherAddresses(
  server: Server,
  addresses: readonly string[],
  backlog?: number,
): Promise<() => Promise<void>> {
  const { address, port } = server.address() as AddressInfo;
  const others: ReturnType<typeof createServer>[] = [];
  const close = async () => {
    await Promise.all(others.map((other) => new Promise((resolve) => other.close(resolve))));
  };
  for (const host of new Set(addresses)) {
    if (host === address) continue;
    // As Node's HTTP server listens itself.
    const other = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      server.emit('connection', socket),
    );
    try {
      await once(other.listen({ host, port, backlog }), 'listening');
      others.push(other.on('error', (error) => server.emit('error', error)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') continue;
      await close();
      throw error;
    }
  }
  return close;
}
