import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { answering, failed, OK, receivers, send, shortenLimits, WHOLE_LIMITS } from './receiver-fixture.ts';

const { receive } = receivers();

test('an interim answer is passed over, a flood of them is not', async () => {
  const polite = await receive(
    answering(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: x\r\n\r\n${OK}`),
  );
  expect(await send(`http://127.0.0.1:${polite.port}`)).toMatchObject({ accepted: true });
  const flooding = await receive((socket) => {
    const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(50)), 1);
    socket.on('close', () => clearInterval(timer)).resume();
  });
  expect(await send(`http://127.0.0.1:${flooding.port}`)).toMatchObject(
    failed(`127.0.0.1:${flooding.port} sent interim answers (1xx) without an end.`),
  );
  const upgrading = await receive(answering('HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'));
  expect(await send(`http://127.0.0.1:${upgrading.port}`)).toMatchObject(
    failed(/^The request to .* failed\.$/),
  );
});

test.each([
  ['a banner', 'SSH-2.0-OpenSSH_9.2\r\n', /did not answer in HTTP/],
  ['HTTP/0.9', '<html>hello</html>', /did not answer in HTTP/],
  ['bare garbage', '\0\x01\x02\xff\n\n\n', /did not answer in HTTP/],
  [
    'two lengths',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
    /did not answer in HTTP/,
  ],
  [
    'length and chunks',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    /in HTTP/,
  ],
  [
    'a large header',
    `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
    /headers of the answer of .* larger than 16 kB/,
  ],
  [
    'many headers',
    `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}\r\n`,
    /headers of the answer of .* larger than 16 kB/,
  ],
])('%s is not an answer', async (_what, answer, sentence) => {
  const { port } = await receive(answering(answer));
  expect(await send(`http://127.0.0.1:${port}`)).toMatchObject(failed(sentence));
});

test('endless headers end', async () => {
  const { port } = await receive((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write(`x-y: ${'z'.repeat(1_000)}\r\n`), 1);
    socket.on('close', () => clearInterval(timer)).resume();
  });
  expect(await send(`http://127.0.0.1:${port}`)).toMatchObject(failed(/larger than 16 kB/));
});

// The status decides: it has come, so what follows is cut, and the request is not repeated.
test.each([
  ['endless', (socket: Socket) => endless(socket, 'x'.repeat(10_000), 0)],
  ['slow', (socket: Socket) => endless(socket, 'x', 20)],
  ['broken off', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nxx')],
  ['silent', (socket: Socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nxx')],
  [
    'wrong chunks',
    (socket: Socket) =>
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nxx\r\nzz\r\n'),
  ],
  ['chunk extensions', (socket: Socket) => endlessExtension(socket)],
  ['trailers', (socket: Socket) => endlessTrailers(socket)],
])('a body that is %s is cut', async (_what, act) => {
  shortenLimits({ bodyMs: 300 });
  const receiver = await receive((socket) => socket.once('data', () => act(socket)));
  const began = performance.now();
  const { status, accepted, response } = await send(`http://127.0.0.1:${receiver.port}`);
  expect({ status, accepted }).toEqual({ status: 200, accepted: true });
  expect(response).toMatch(/^x*$/);
  expect(response.length).toBeLessThanOrEqual(4_096);
  expect(performance.now() - began).toBeLessThan(WHOLE_LIMITS.connectMs);
});

function endless(socket: Socket, text: string, ms: number): void {
  socket.write('HTTP/1.1 200 OK\r\n\r\n');
  const timer = setInterval(() => socket.write(text), ms);
  socket.on('close', () => clearInterval(timer));
}

function endlessExtension(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;');
  const timer = setInterval(() => socket.write('y'.repeat(10_000)), 1);
  socket.on('close', () => clearInterval(timer));
}

function endlessTrailers(socket: Socket): void {
  socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nxx\r\n0\r\n');
  const timer = setInterval(() => socket.write(`x: ${'y'.repeat(10_000)}\r\n`), 1);
  socket.on('close', () => clearInterval(timer));
}

test('a compressed answer is not decompressed', async () => {
  const bomb = gzipSync(Buffer.alloc(20_000_000));
  const { port } = await receive((socket) =>
    socket.once('data', () => {
      socket.write(`HTTP/1.1 400 x\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    }),
  );
  expect(await send(`http://127.0.0.1:${port}`)).toMatchObject({
    status: 400,
    response: '(compressed: gzip)',
  });
});

test('a receiver that is slow, at each stage', async () => {
  shortenLimits({ connectMs: 2_000, wholeMs: 3_000 });
  const silent = await receive((socket) => socket.resume());
  const dripping = await receive((socket) => {
    const bytes = [...OK];
    const timer = setInterval(() => socket.write(bytes.shift() ?? ''), 500);
    socket.on('close', () => clearInterval(timer)).resume();
  });
  const answers = await Promise.all([
    send(`http://127.0.0.1:${silent.port}`),
    send(`http://127.0.0.1:${dripping.port}`),
    send(`https://127.0.0.1:${silent.port}`),
  ]);
  expect(answers).toMatchObject([
    failed(`127.0.0.1:${silent.port} did not answer within 3 s.`),
    failed(`127.0.0.1:${dripping.port} did not answer within 3 s.`),
    failed(`127.0.0.1:${silent.port} could not be connected to within 2 s.`),
  ]);
  for (const { milliseconds } of answers) expect(milliseconds).toBeLessThan(WHOLE_LIMITS.connectMs);
});

test('a receiver that ends the connection, at each stage', async () => {
  const atOnce = await receive((socket) => socket.resetAndDestroy());
  const afterRequest = await receive((socket) => socket.once('data', () => socket.destroy()));
  const inHead = await receive((socket) => socket.once('data', () => socket.end('HTTP/1.1 20')));
  const inHandshake = await receive((socket) => socket.once('data', () => socket.end('\x16\x03\x03')));
  const closed = await receive(() => {});
  closed.close();
  const results = await Promise.all([
    send(`http://127.0.0.1:${atOnce.port}`),
    send(`http://127.0.0.1:${afterRequest.port}`),
    send(`http://127.0.0.1:${inHead.port}`),
    send(`https://127.0.0.1:${inHandshake.port}`),
    send(`http://127.0.0.1:${closed.port}`),
  ]);
  expect(results).toMatchObject([
    failed(/closed the connection without an answer \(ECONNRESET\)\.$/),
    failed(/closed the connection without an answer \(ECONNRESET\)\.$/),
    failed(/closed the connection without an answer|did not answer in HTTP/),
    failed(/closed the connection without an answer/),
    failed(`127.0.0.1:${closed.port} refused the connection (ECONNREFUSED): nothing listens on that port.`),
  ]);
});
