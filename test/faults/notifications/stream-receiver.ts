import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

/** What a stream's receiver got. */
interface Received {
  /** How often it accepted each entry, by id. */
  times: Map<number, number>;
  /** When it accepted each entry first, in milliseconds of this machine's clock. */
  first: Map<number, number>;
  /** Batches that came again with another text. */
  altered: number;
  /** Batches that began neither after the last one nor where an earlier one did. */
  disordered: number;
}

/** A receiver of log streams on this machine, a stream per path. */
export interface StreamReceiver {
  url: string;
  of(path: string): Received;
  stop(): Promise<void>;
}

/** Starts a receiver that stores each batch before it answers. A path that begins with `/slow` gets its answer after 10 s, `/dead` none. */
export async function startStreamReceiver(): Promise<StreamReceiver> {
  const received = new Map<string, Received>();
  const texts = new Map<string, string>();
  const of = (path: string) => {
    const known = received.get(path) ?? { times: new Map(), first: new Map(), altered: 0, disordered: 0 };
    received.set(path, known);
    return known;
  };
  const server = createServer(async (request, response) => {
    const path = `${request.url}`;
    if (path.startsWith('/dead')) return void request.resume();
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    if (path.startsWith('/slow')) await wait(10_000, undefined, { ref: false });
    keep(of(path), path, request.headers, body);
    response.writeHead(200).end();
  });
  server.on('connection', (socket) => socket.on('error', () => {}));

  function keep(of: Received, path: string, headers: NodeJS.Dict<string | string[]>, body: string): void {
    const [first, last] = [Number(headers['dbvitals-first-id']), Number(headers['dbvitals-last-id'])];
    const batch = `${path} ${first}-${last}`;
    const text = createHash('sha256').update(body).digest('hex');
    if ((texts.get(batch) ?? text) !== text) of.altered += 1;
    if (!texts.has(batch) && first > 1 && !of.times.has(first - 1)) of.disordered += 1;
    texts.set(batch, text);
    for (const line of body.split('\n').filter(Boolean)) {
      const { id } = JSON.parse(line) as { id: number };
      of.times.set(id, (of.times.get(id) ?? 0) + 1);
      if (!of.first.has(id)) of.first.set(id, Date.now());
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    of,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
