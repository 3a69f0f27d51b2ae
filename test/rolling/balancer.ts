import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** The interval of readiness probes, in milliseconds. */
const LOOK_EVERY_MS = 500;

/** A minimal load balancer: it probes `/readyz`, keeps connections open, and never retries. */
export interface Balancer {
  port: number;
  /** The ports of the services that currently get requests. */
  ready(): number[];
  /** Requests without a ready service, or whose connection ended without an answer. */
  failed: string[];
  close(): Promise<void>;
}

/** Starts a balancer for the services on these local ports. */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const agent = new http.Agent({ keepAlive: true });
  const ready = new Set<number>();
  const closing = new AbortController();
  let turn = 0;

  const look = async (port: number) => {
    while (!closing.signal.aborted) {
      const url = `http://127.0.0.1:${port}/readyz`;
      const { ok } = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => ({ ok: false }));
      if (ok) ready.add(port);
      else ready.delete(port);
      await wait(LOOK_EVERY_MS, undefined, { signal: closing.signal }).catch(() => {});
    }
  };
  const looking = ports.map(look);

  const server = http.createServer((request, response) => {
    const list = [...ready];
    const port = list[turn % list.length];
    turn += 1;
    const fail = (why: string) => {
      balancer.failed.push(why);
      response.writeHead(502).end();
    };
    if (port === undefined) return fail('no service is ready');
    const { url: path = '/', method = 'GET', headers } = request;
    const onward = http.request({ port, host: '127.0.0.1', path, method, headers, agent }, (answer) => {
      const { connection: _hop, ...passed } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, passed);
      answer.pipe(response);
    });
    onward.once('error', (error: NodeJS.ErrnoException) => fail(`${port}: ${error.code ?? error.message}`));
    onward.end();
  });
  // After 5 s without a request Node would close a connection on which the client may just be sending the next one.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const balancer: Balancer = {
    port: (server.address() as AddressInfo).port,
    ready: () => [...ready],
    failed: [],
    async close() {
      closing.abort();
      await Promise.all(looking);
      server.closeAllConnections();
      server.close();
      agent.destroy();
    },
  };
  return balancer;
}
