import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PATIENCE_MS } from '../support/patience.ts';

/** A request as it came. */
export interface Received {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A server on a socket that keeps what it gets. */
export class LocalReceiver {
  readonly received: Received[] = [];
  readonly #server: Server;

  private constructor(answer: (request: Received) => { status: number; body: string }) {
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const received = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      };
      this.received.push(received);
      const { status, body } = answer(received);
      response.writeHead(status).end(body);
    });
  }

  static async start(
    answer: (request: Received) => { status: number; body: string } = () => ({ status: 200, body: 'ok' }),
  ): Promise<LocalReceiver> {
    const receiver = new LocalReceiver(answer);
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  /** The next request that fits, also one that came already. */
  async next(fits: (request: Received) => boolean = () => true): Promise<Received> {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      const at = this.received.findIndex(fits);
      const [found] = at < 0 ? [] : this.received.splice(at, 1);
      if (found) return found;
      if (Date.now() > end)
        throw new Error(`Nothing came that fits. What came:\n${JSON.stringify(this.received)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
