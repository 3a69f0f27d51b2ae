import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test, vi } from 'vitest';
import { callService, nextNonce, ServiceAway, ServiceRefused } from './call-service.ts';
import { newKey } from './collector-key.ts';

const key = newKey().key;
const { signal } = new AbortController();
const ended: (() => void)[] = [];
afterEach(() => {
  for (const end of ended.splice(0)) end();
  vi.unstubAllEnvs();
});

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server: Server = createServer((request, response) => {
    request.resume().on('end', () => answer(request, response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ended.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const call = (url: string) =>
  callService({ url, name: 'a', account: 1, collector: 2, key }, 'work', { free: 1 }, signal);

test('an answer is returned, compressed or not, and a refusal has the words of the service', async () => {
  const packed = gzipSync(JSON.stringify({ jobs: [] }));
  const url = await serve((request, response) => {
    if (request.url === '/collector/work')
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
  });
  expect(await call(url)).toEqual({ jobs: [] });
  const refusing = await serve((_, response) =>
    response.writeHead(409).end(JSON.stringify({ error: { message: 'Update the older one.' } })),
  );
  await expect(call(refusing)).rejects.toEqual(new ServiceRefused(409, 'Update the older one.'));
});

test.each([
  ['is no dbvitals', 200, '<html>', 'what answers is not dbvitals (status 200)'],
  [
    'redirects',
    302,
    '',
    'it redirects (status 302), which is not followed: --url must be the address of the service itself',
  ],
  ['is a gateway', 504, '<html><h1>504 Gateway Time-out</h1></html>', 'it answers with status 504'],
  ['is a firewall', 403, '<html>Request blocked</html>', 'it answers with status 403'],
  ['fails', 500, '{"error":{"message":"x"}}', 'it answers with status 500'],
])('a server that %s is away', async (_, status, body, reason) => {
  const url = await serve((_request, response) => {
    response.writeHead(status, { location: 'http://127.0.0.1:1/collector/work' }).end(body);
  });
  await expect(call(url)).rejects.toEqual(new ServiceAway(reason));
});

test('an answer that unpacks to more than the limit is given up', async () => {
  const bomb = gzipSync(Buffer.alloc(40 * 1024 * 1024, ' '));
  const url = await serve((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
  await expect(call(url)).rejects.toEqual(new ServiceAway('the answer is too large'));
});

test('a kept connection that the service has just closed is no outage: the request is signed and sent again', async () => {
  const nonces = new Set<string>();
  let requests = 0;
  const url = await serve((request, response) => {
    nonces.add(String(request.headers['signature-input']));
    requests += 1;
    if (requests === 2) request.socket.resetAndDestroy();
    else response.end('{}');
  });
  await call(url);
  expect(await call(url)).toEqual({});
  expect([requests, nonces.size]).toEqual([3, 3]);
});

test('HTTPS goes through the proxy of HTTPS_PROXY, except to names of NO_PROXY', async () => {
  const asked: string[] = [];
  const proxy = createTcpServer((socket: Socket) => {
    socket.once('data', (head) => {
      asked.push(head.toString().split('\r\n', 1)[0] ?? '');
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    });
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  ended.push(() => proxy.close());
  vi.stubEnv('HTTPS_PROXY', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  vi.stubEnv('NO_PROXY', 'local.invalid');
  await expect(call('https://service.invalid')).rejects.toBeInstanceOf(ServiceAway);
  await expect(call('https://local.invalid')).rejects.toBeInstanceOf(ServiceAway);
  expect(asked).toEqual(['CONNECT service.invalid:443 HTTP/1.1']);
});

test('nonces are unique, and follow a clock that is set back', () => {
  const now = 1_800_000_000_000;
  const many = Array.from({ length: 5_000 }, () => nextNonce(now));
  expect(new Set(many).size).toBe(5_000);
  expect(nextNonce(now + 3_600_000)).toBeGreaterThanOrEqual((now + 3_600_000) * 1_000);
  expect(nextNonce(now)).toBeLessThan((now + 1_000) * 1_000);
});
