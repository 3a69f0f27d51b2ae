import { once } from 'node:events';
import { createServer } from 'node:http';

/** A request that a receiver got. */
interface Received {
  path: string;
  id: string;
  sequence: number;
  /** In milliseconds of this process's clock. */
  at: number;
}

/** A webhook receiver on this machine that accepts everything. */
export interface Receiver {
  url: string;
  got: Received[];
  /** The time of the first request with this id. */
  first: Map<string, number>;
  stop(): Promise<void>;
}

/** Starts a receiver that answers 200 at once. */
export async function startReceiver(): Promise<Receiver> {
  const got: Received[] = [];
  const first = new Map<string, number>();
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      const id = `${request.headers['webhook-id']}`;
      const at = performance.now();
      if (!first.has(id)) first.set(id, at);
      got.push({ path: `${request.url}`, id, sequence: Number(request.headers['dbvitals-sequence']), at });
      response.writeHead(200).end('ok');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    got,
    first,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
