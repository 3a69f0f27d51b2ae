import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Registry } from 'prom-client';
import type { Readiness } from '../api/readiness.ts';
import { limitConnections } from '../http/edge/connection-limits.ts';
import type { EscapedErrors } from '../http/edge/escaped-errors.ts';
import { limitPipelining } from '../http/edge/pipelining.ts';

/** Serves `/metrics`, `/livez` and `/readyz` on their own port. */
export async function serveMetrics(
  registry: Registry,
  host: string,
  port: number,
  notReady: Readiness,
  escaped: EscapedErrors,
): Promise<Server> {
  const server = createServer((request, response) => {
    answer(request.url, response).catch((error) => escaped.drop(request.socket, error));
  });
  async function answer(url: string | undefined, response: ServerResponse): Promise<void> {
    const plain = { 'content-type': 'text/plain; charset=utf-8' };
    if (url === '/metrics') {
      const text = await registry.metrics();
      response.writeHead(200, { 'content-type': registry.contentType }).end(text);
    } else if (url === '/livez') {
      response.writeHead(200, plain).end('ok\n');
    } else if (url === '/readyz') {
      const reason = await notReady();
      response.writeHead(reason === null ? 200 : 503, plain).end(`${reason ?? 'ok'}\n`);
    } else {
      response.writeHead(404, plain).end('see /metrics, /livez or /readyz\n');
    }
  }
  limitConnections(server);
  escaped.follow(server);
  limitPipelining(server, escaped.guard);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  return server;
}
