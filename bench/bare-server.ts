import { createServer } from 'node:http';
import { tellPort } from './tell-port.ts';

// A rival: Node's own server, which answers every request with the same bytes. Reads the body from standard input.
const parts: Buffer[] = [];
for await (const part of process.stdin) parts.push(part);
const body = Buffer.concat(parts);

const server = createServer((_request, response) => {
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': body.length,
  });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => tellPort(server));
