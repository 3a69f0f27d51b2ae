import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { tellPort } from './tell-port.ts';

// A rival: Node's own server, with fixed bytes for each URL. Reads the bodies from standard input: an object by URL.
const bodies = new Map(
  Object.entries((await json(process.stdin)) as Record<string, string>).map(([url, body]) => [
    url,
    Buffer.from(body),
  ]),
);

const server = createServer((request, response) => {
  const body = bodies.get(request.url ?? '');
  response.writeHead(body ? 200 : 404, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body?.length ?? 0,
  });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => tellPort(server));
