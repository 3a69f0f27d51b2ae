import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect as connectPlainly, createServer as createTcpServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { listenOnOtherAddresses } from './other-addresses.ts';
import { limitPipelining } from './pipelining.ts';

const pair = (name: string) => ({
  cert: readFileSync(`test/certificates/${name}.pem`),
  key: readFileSync(`test/certificates/${name}.key`),
});

const FIRST = '127.0.0.1';
const SECOND = '127.0.0.2';

const stops: (() => unknown)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0).reverse()) stop();
});

/** A TLS server on the first address that answers after a turn, and how many of its requests were open at most. */
async function serveSecurely() {
  let [open, most] = [0, 0];
  const server = createServer(pair('server'), (_request, response) => {
    open += 1;
    most = Math.max(most, open);
    setImmediate(() => {
      open -= 1;
      response.end('ok');
    });
  });
  limitPipelining(server, (_socket, work) => work());
  await once(server.listen(0, FIRST), 'listening');
  stops.push(() => server.close());
  return { server, port: (server.address() as AddressInfo).port, most: () => most };
}

async function ask(host: string, port: number, requests = 1) {
  const socket = connect({ host, port, rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const issuer = socket.getPeerCertificate().issuer.CN;
  const get = 'GET / HTTP/1.1\r\nHost: x\r\n';
  socket.write(`${`${get}\r\n`.repeat(requests - 1)}${get}Connection: close\r\n\r\n`);
  const answers = (await text(socket)).split('HTTP/1.1 200 OK').length - 1;
  return { issuer, answers };
}

test('every address has the same limits, and the same renewed certificate', async () => {
  const { server, port, most } = await serveSecurely();
  stops.push(await listenOnOtherAddresses(server, [FIRST, SECOND, SECOND]));
  const before = { issuer: 'dbvitals test authority', answers: 50 };
  for (const host of [FIRST, SECOND]) expect(await ask(host, port, 50)).toEqual(before);
  expect(most()).toBe(1);
  server.setSecureContext(pair('renewed'));
  for (const host of [FIRST, SECOND])
    expect(await ask(host, port)).toEqual({ issuer: 'localhost', answers: 1 });
});

test('an error while accepting a connection is an error of the first server', async () => {
  const { server, port } = await serveSecurely();
  const errors: unknown[] = [];
  server.on('error', (error) => errors.push(error));
  stops.push(await listenOnOtherAddresses(server, [SECOND]));
  const accepted = once(server, 'connection');
  const client = connectPlainly({ host: SECOND, port });
  stops.push(() => client.destroy());
  const [socket] = await accepted;
  const failure = new Error('accept ENOBUFS');
  // Node's own path of such an error (lib/net.js, onconnection).
  socket.server.emit('error', failure);
  expect(socket.server).not.toBe(server);
  expect(errors).toEqual([failure]);
});

test('an address that the machine does not have is skipped', async () => {
  const { server, port } = await serveSecurely();
  stops.push(await listenOnOtherAddresses(server, ['192.0.2.1', SECOND]));
  expect((await ask(SECOND, port)).answers).toBe(1);
});

test("another program's port is an error, and no address stays open", async () => {
  const { server, port } = await serveSecurely();
  const strange = createTcpServer();
  await once(strange.listen(port, SECOND), 'listening');
  stops.push(() => strange.close());
  await expect(listenOnOtherAddresses(server, ['127.0.0.3', SECOND])).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
  await expect(ask('127.0.0.3', port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('closing waits for the request under way', async () => {
  let answer = () => {};
  const server = createPlainServer((_request, response) => {
    answer = () => response.end('late');
  });
  await once(server.listen(0, FIRST), 'listening');
  stops.push(() => server.close());
  const close = await listenOnOtherAddresses(server, [SECOND]);
  const { port } = server.address() as AddressInfo;
  const socket = connectPlainly({ host: SECOND, port });
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  await once(server, 'request');
  const order: string[] = [];
  const closed = close().then(() => order.push('closed'));
  await expect(once(connectPlainly({ host: SECOND, port }), 'connect')).rejects.toThrow('ECONNREFUSED');
  order.push('answered');
  answer();
  expect(await text(socket)).toMatch(/late$/);
  await closed;
  expect(order).toEqual(['answered', 'closed']);
});
