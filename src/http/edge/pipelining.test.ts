import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { connect as connectSecurely } from 'node:tls';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { limitPipelining } from './pipelining.ts';

const certificate = (part: string) => readFileSync(`test/certificates/server.${part}`);

/** Started requests by path, and the most that one connection had open at a time. */
const seen = { begun: new Map<string, number>(), open: new Map<Socket, number>(), mostOpen: 0 };

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { socket, url = '' } = request;
  seen.begun.set(url, (seen.begun.get(url) ?? 0) + 1);
  const open = (seen.open.get(socket) ?? 0) + 1;
  seen.open.set(socket, open);
  seen.mostOpen = Math.max(seen.mostOpen, open);
  response.once('close', () => seen.open.set(socket, (seen.open.get(socket) ?? 0) - 1));
  let length = 0;
  for await (const chunk of request) length += chunk.length;
  if (url === '/large') response.end(Buffer.alloc(16 * 1024, 0x78));
  else response.end(`${url} ${length};`);
}

const plain = createServer((request, response) => void answer(request, response));
const secure = createSecureServer(
  { cert: certificate('pem'), key: certificate('key') },
  (request, response) => void answer(request, response),
);

const sockets: Socket[] = [];

beforeAll(async () => {
  for (const server of [plain, secure]) {
    limitPipelining(server, (_socket, work) => work());
    await once(server.listen(0, '127.0.0.1'), 'listening');
  }
});

beforeEach(() => {
  seen.begun.clear();
  seen.mostOpen = 0;
});

afterAll(() => {
  for (const socket of sockets) socket.destroy();
  plain.close();
  secure.close();
});

/** A client that collects its answers. */
async function open(server: typeof plain | typeof secure) {
  const { port } = server.address() as AddressInfo;
  const socket =
    server === plain
      ? connect(port, '127.0.0.1')
      : connectSecurely({ host: '127.0.0.1', port, rejectUnauthorized: false });
  sockets.push(socket);
  await once(socket, server === plain ? 'connect' : 'secureConnect');
  let received = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text;
  });
  const bodies = () => [...received.matchAll(/\/\w+ \d+;/g)].map(([body]) => body);
  return { socket, bodies };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

test.each([
  ['plain', plain],
  ['with TLS', secure],
])('pipelined requests are answered in order, one open at a time: %s', async (_, server) => {
  const { socket, bodies } = await open(server);
  const paths = Array.from({ length: 2_000 }, (_, n) => `/n${n}`);
  socket.write(paths.map(get).join(''));
  await expect.poll(() => bodies().length).toBe(paths.length);
  expect(bodies()).toEqual(paths.map((path) => `${path} 0;`));
  expect(seen.mostOpen).toBe(1);
});

test('other connections are answered between pipelined requests', async () => {
  const [greedy, modest] = [await open(plain), await open(plain)];
  greedy.socket.write(get('/greedy').repeat(3_000));
  await expect.poll(() => seen.begun.get('/greedy') ?? 0, { interval: 1 }).toBeGreaterThan(0);
  for (let asked = 1; asked <= 10; asked += 1) {
    modest.socket.write(get('/modest'));
    while (modest.bodies().length < asked) await once(modest.socket, 'data');
  }
  expect(seen.begun.get('/greedy')).toBeLessThan(1_500);
  await expect.poll(() => greedy.bodies().length).toBe(3_000);
});

test('bodies are read completely, whatever lines they contain, and the next bytes are a request', async () => {
  const { socket, bodies } = await open(plain);
  const body = 'a\r\n\r\nb'.repeat(3_000);
  const chunk = `${body.length.toString(16)}\r\n${body}\r\n`;
  const head = 'POST /body HTTP/1.1\r\nHost: x\r\n';
  socket.write(
    [
      `${head}Content-Length: ${body.length}\r\n\r\n${body}`,
      `${head}Transfer-Encoding: chunked\r\n\r\n${chunk}${chunk}0\r\n\r\n`,
      get('/after'),
    ].join(''),
  );
  await expect.poll(() => bodies()).toHaveLength(3);
  expect(bodies()).toEqual(
    [`/body ${body.length}`, `/body ${2 * body.length}`, '/after 0'].map((b) => `${b};`),
  );
});

test('the server stops reading from a client that does not read its answers', async () => {
  const { socket } = await open(plain);
  socket.pause();
  socket.write(get('/large').repeat(20_000));
  let begun = -1;
  for (let now = 0; begun !== now; now = seen.begun.get('/large') ?? 0) {
    begun = now;
    await wait(300);
  }
  expect(begun).toBeGreaterThan(0);
  expect(begun).toBeLessThan(5_000);
});
