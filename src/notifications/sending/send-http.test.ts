import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, test } from 'vitest';
import { Routes } from './pinned-routes.ts';
import {
  answering,
  failed,
  OK,
  receivers,
  requestTo,
  send,
  shortenLimits,
  trustReceivers,
} from './receiver-fixture.ts';
import { sendHttp } from './send-http.ts';

const authorities = trustReceivers();

const { receive, receiveTls } = receivers();

test('a request arrives as it was made, but for headers that frame it', async () => {
  let got = '';
  const { port } = await receive((socket) => {
    socket.on('data', (data) => {
      got += data;
      socket.write(OK);
    });
  });
  const headers = {
    'Webhook-Id': 'evt_1',
    Host: 'other.example',
    'content-length': '1',
    'Transfer-Encoding': 'chunked',
  };
  expect(await send(`http://127.0.0.1:${port}/a?b=c`, { headers })).toEqual({
    status: 200,
    accepted: true,
    result: '200 OK',
    response: 'ok',
    retryAfter: null,
    gone: false,
    milliseconds: expect.any(Number),
  });
  const [head = '', body] = got.split('\r\n\r\n');
  expect(body).toBe('{"a":1}');
  expect(
    head
      .split('\r\n')
      .map((line) => line.toLowerCase())
      .toSorted(),
  ).toEqual([
    'accept-encoding: identity',
    'connection: keep-alive',
    'content-length: 7',
    `host: 127.0.0.1:${port}`,
    'post /a?b=c http/1.1',
    expect.stringMatching(/^user-agent: dbvitals\/[0-9.]+$/),
    'webhook-id: evt_1',
  ]);
});

test('a connection is used again, and a request that meets its end is sent on a new one', async () => {
  let requests = 0;
  const receiver = await receive((socket) => {
    socket.on('data', () => {
      requests++;
      if (requests === 3) socket.destroy();
      else socket.write(OK);
    });
  });
  const routes = new Routes(true);
  for (let sent = 0; sent < 3; sent++)
    expect(await send(`http://127.0.0.1:${receiver.port}`, {}, routes)).toMatchObject({ accepted: true });
  expect([requests, receiver.connections]).toEqual([4, 2]);
});

test.each([
  ['HTTP/1.1 204 No Content\r\n\r\n', { status: 204, accepted: true, result: '204 No Content' }],
  ['HTTP/1.1 304 Not Modified\r\n\r\n', { status: 304, accepted: false, result: '304 Not Modified' }],
  ['HTTP/1.1 299 Whatever\r\ncontent-length: 0\r\n\r\n', { accepted: true, result: '299 unknown status' }],
  ['HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n', { accepted: false, gone: true, result: '410 Gone' }],
  [
    'HTTP/1.1 429 Slow\r\nretry-after: 120\r\ncontent-length: 0\r\n\r\n',
    { status: 429, retryAfter: 120, result: '429 Too Many Requests, Retry-After: 120 s' },
  ],
  [
    'HTTP/1.1 503 x\r\nretry-after: 999999999\r\ncontent-length: 0\r\n\r\n',
    { retryAfter: 86_400, result: '503 Service Unavailable, Retry-After: 86400 s' },
  ],
  ['HTTP/1.1 503 x\r\nretry-after: soon\r\ncontent-length: 0\r\n\r\n', { retryAfter: null }],
  [
    'HTTP/1.1 503 x\r\nretry-after: Mon, 01 Jan 2024 00:00:00 GMT\r\ncontent-length: 0\r\n\r\n',
    { retryAfter: 0 },
  ],
  ['HTTP/1.1 200 OK\r\nretry-after: 9\r\ncontent-length: 0\r\n\r\n', { accepted: true, retryAfter: null }],
  [
    'HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/latest?secret=1\r\ncontent-length: 0\r\n\r\n',
    {
      status: 302,
      accepted: false,
      result: '302 Found: it redirects to http://169.254.169.254, and redirects are not followed.',
    },
  ],
  [
    'HTTP/1.1 307 x\r\nlocation: javascript:alert(1)\r\ncontent-length: 0\r\n\r\n',
    { result: '307 Temporary Redirect: it redirects, and redirects are not followed.' },
  ],
])('%j', async (answer, result) => {
  const { port } = await receive(answering(answer));
  expect(await send(`http://127.0.0.1:${port}`)).toMatchObject(result);
});

test('4 kB of text are kept, in one line, cut at a character', async () => {
  const body = `a\u0000b\r\n\u001b[31mc\u202e${'ö'.repeat(5_000)}`;
  const { port } = await receive(answering(`HTTP/1.1 500 x\r\nconnection: close\r\n\r\n`));
  const receiver = await receive((socket) =>
    socket.once('data', () =>
      socket.end(Buffer.concat([Buffer.from('HTTP/1.1 500 x\r\n\r\n'), Buffer.from(body)])),
    ),
  );
  const { response, result } = await send(`http://127.0.0.1:${receiver.port}`);
  expect(result).toBe('500 Internal Server Error');
  expect(response).toMatch(/^a b \[31mc ö+$/u);
  expect(Buffer.byteLength(response)).toBeGreaterThan(4_000);
  expect(Buffer.byteLength(response)).toBeLessThanOrEqual(4_096);
  const wrong = await receive((socket) =>
    socket.once('data', () =>
      socket.end(Buffer.concat([Buffer.from('HTTP/1.1 500 x\r\n\r\n'), Buffer.alloc(9_000, 0xff)])),
    ),
  );
  const garbage = await send(`http://127.0.0.1:${wrong.port}`);
  expect(garbage.response).toMatch(/^\ufffd+$/u);
  expect(Buffer.byteLength(garbage.response)).toBeLessThanOrEqual(4_096);
  expect(port).not.toBe(receiver.port);
});

test.each([
  ['server', 'localhost', '200 OK'],
  ['server', '127.0.0.1', /^The certificate of 127.0.0.1:\d+ is for another name \(localhost\)\.$/],
  ['hooks', 'localhost', /^The certificate of localhost:\d+ is for another name \(hooks\.example\.com\)\.$/],
  ['expired', 'localhost', /^The certificate of localhost:\d+ expired on 2025-03-01\.$/],
  ['renewed', 'localhost', /^The certificate of localhost:\d+ is self-signed: add the authority to .*\.$/],
])('the certificate %s of %s', async (certificate, host, result) => {
  let got = '';
  const { port } = await receiveTls(certificate, (socket) => {
    socket.on('data', (data) => {
      got += data;
      socket.write(OK);
    });
  });
  const sent = await send(`https://${host}:${port}`);
  expect(sent.result).toMatch(result);
  expect(got === '').toBe(result !== '200 OK');
});

test('a certificate of an authority that nobody trusts', async () => {
  const { port } = await receiveTls('server');
  const trusted = getCACertificates('default');
  setDefaultCACertificates([authorities[1] ?? '']);
  const { result } = await send(`https://localhost:${port}`);
  setDefaultCACertificates(trusted);
  expect(result).toMatch(
    /^The certificate of localhost:\d+ is not from a trusted authority \([A-Z_]+\): add the/,
  );
});

test('TLS is not spoken, or not expected', async () => {
  const plain = await receive((socket) => socket.once('data', () => socket.end(OK)));
  const tls = await receiveTls('server');
  expect(await send(`https://localhost:${plain.port}`)).toMatchObject(
    failed(`localhost:${plain.port} does not speak TLS on port ${plain.port}.`),
  );
  expect(await send(`http://localhost:${tls.port}`)).toMatchObject(
    failed(/without an answer|did not answer in HTTP/),
  );
});

test('headers that HTTP does not allow are not sent', async () => {
  const receiver = await receive(answering(OK));
  const sent = await send(`http://127.0.0.1:${receiver.port}`, { headers: { 'x-a': 'b\r\nx-evil: 1' } });
  expect(sent).toMatchObject(failed('A header of the request has a character that HTTP does not allow.'));
  expect(receiver.connections).toBe(0);
});

test('the address is judged again after its time, and after a failure', async () => {
  const receiver = await receive((socket) => socket.once('data', () => socket.end(OK)));
  const routes = new Routes(true);
  const url = new URL(`http://localhost:${receiver.port}`);
  const first = await routes.to(url);
  expect(await routes.to(url)).toBe(first);
  receiver.close();
  await sendHttp(requestTo(url.href), true, routes);
  expect(await routes.to(url)).not.toBe(first);
  shortenLimits({ addressMs: 20 });
  const aged = new Routes(true);
  const old = await aged.to(url);
  await wait(30);
  expect(await aged.to(url)).not.toBe(old);
});

test('a GET has no body, as a heartbeat', async () => {
  let asked: { method?: string | undefined; length?: string | undefined } = {};
  const server = createServer((request, response) => {
    asked = { method: request.method, length: request.headers['content-length'] };
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await send(`http://127.0.0.1:${port}`, { method: 'GET', body: '' })).toMatchObject({
    accepted: true,
  });
  expect(asked).toEqual({ method: 'GET', length: undefined });
  server.close();
});
