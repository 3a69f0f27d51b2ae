import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { RequestBody } from './request-body.ts';

test('a body that broke off before anybody asked for it is said to have broken off', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const asked = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>;
  const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nbegin');
  const [request, response] = await asked;
  request.on('error', () => {});
  socket.destroy();
  await expect.poll(() => request.destroyed).toBe(true);
  expect(await new RequestBody(request, response, () => {}).read()).toBe(undefined);
  server.close();
});
