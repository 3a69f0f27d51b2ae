import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that can stop forwarding, like a network that loses every packet. */
export interface Proxy {
  port: number;
  /** Stops forwarding in both directions. Connections stay open; new ones are accepted but get no data. */
  swallow(): void;
  /** Forwards the held data and continues. */
  heal(): void;
  close(): Promise<void>;
}

/** Forwards to a Unix socket, or to a port of this machine; `at` is its own port, by default a free one. */
export async function startProxy(to: string | number, at = 0): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let swallows = false;
  const server = createServer((client) => {
    const target = typeof to === 'number' ? connect(to, '127.0.0.1') : connect(to);
    for (const [from, into] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => into.write(bytes));
      from.on('error', () => into.destroy());
      from.once('close', () => {
        sockets.delete(from);
        // The end of a connection is not visible during a black hole.
        if (!swallows) into.destroy();
      });
      if (swallows) from.pause();
    }
  });
  server.listen(at, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    swallow() {
      swallows = true;
      for (const socket of sockets) socket.pause();
    },
    heal() {
      swallows = false;
      for (const socket of sockets) socket.resume();
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
