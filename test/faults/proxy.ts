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

/** Forwards to a Unix socket. */
export async function startProxy(path: string): Promise<Proxy> {
  const sockets = new Set<Socket>();
  let swallows = false;
  const server = createServer((client) => {
    const target = connect(path);
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => to.write(bytes));
      from.on('error', () => to.destroy());
      from.once('close', () => {
        sockets.delete(from);
        // The end of a connection is not visible during a black hole.
        if (!swallows) to.destroy();
      });
      if (swallows) from.pause();
    }
  });
  server.listen(0, '127.0.0.1');
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
