import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { limitConnections } from './connection-limits.ts';

const QUIET_MS = 2_000;
const LINE = { bytes: 80, everyMs: 200 };

// Sends a line every 200 ms, or as much as the client reads, without end.
async function* lines(size: number, pause: number) {
  while (true) {
    yield Buffer.alloc(size, 0x78);
    if (pause > 0) await wait(pause);
  }
}

const server = createServer((request, response) => {
  const [size, pause] = request.url === '/slow' ? [LINE.bytes, LINE.everyMs] : [64 * 1024, 0];
  Readable.from(lines(size, pause))
    .on('error', () => {})
    .pipe(response);
});

beforeAll(async () => {
  limitConnections(server, QUIET_MS);
  await once(server.listen(0, '127.0.0.1'), 'listening');
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
});

/** A client that sends a request; null = a client that sends nothing. */
async function ask(path: string | null) {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let closed = false;
  socket
    .on('error', () => {})
    .once('close', () => {
      closed = true;
    });
  await once(socket, 'connect');
  if (path !== null) socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  return { socket, isClosed: () => closed };
}

test('a client that reads its answer slowly stays connected; one that reads or sends nothing is disconnected', async () => {
  const [taking, refusing, silent] = [await ask('/slow'), await ask('/fast'), await ask(null)];
  taking.socket.resume();
  let taken = 0;
  taking.socket.on('data', (chunk) => {
    taken += chunk.length;
  });
  // The client reads nothing, so the kernel's buffers fill and the answer stalls.
  refusing.socket.pause();
  silent.socket.resume();
  // So many lines take three times as long as a quiet client stays.
  await expect.poll(() => taken / LINE.bytes).toBeGreaterThan((3 * QUIET_MS) / LINE.everyMs);
  expect(taking.isClosed()).toBe(false);
  refusing.socket.resume();
  await expect.poll(() => [refusing.isClosed(), silent.isClosed()]).toEqual([true, true]);
  taking.socket.destroy();
});
