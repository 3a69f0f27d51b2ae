import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that can stop to forward, as a network does that loses every packet. */
export interface Proxy {
  port: number;
  /** Nothing passes any more, in either direction; connections stay, and new ones are let in and hear nothing. */
  swallow(): void;
  /** What was held back passes, and all that comes. */
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
        // What ends behind a black hole is not heard of before it heals.
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
