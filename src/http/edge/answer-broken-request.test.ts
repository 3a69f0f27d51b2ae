import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectSecurely } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answerFailed } from './answer-broken-request.ts';
import { limitPipelining } from './pipelining.ts';

const certificate = (part: string) => readFileSync(`test/certificates/server.${part}`);
const SOON = { headersTimeout: 300, connectionsCheckingInterval: 50, keepAliveTimeout: 600 };
const SERVERS = {
  plain: createServer(SOON),
  secure: createSecureServer({ ...SOON, cert: certificate('pem'), key: certificate('key') }),
};

/** Failures that were counted. */
let failed = 0;

beforeAll(async () => {
  for (const server of Object.values(SERVERS)) {
    const pipelining = limitPipelining(server, (_socket, work) => work());
    server.on('request', (_request, response) => response.end('served'));
    server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      if (!(socket instanceof Socket)) throw error;
      const budgetOf = () => ({ limit: 60, remaining: 60, resetIn: 60, resetAt: 60 });
      const counted = () => {
        failed += 1;
      };
      answerFailed(error, socket, pipelining, { budgetOf, always: [], answered: () => {}, failed: counted });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  }
});

afterAll(() => {
  for (const server of Object.values(SERVERS)) server.close();
});

/** What a client that sends these bytes gets until the server closes the connection. */
async function received(name: keyof typeof SERVERS, bytes: string): Promise<string> {
  const { port } = SERVERS[name].address() as AddressInfo;
  const socket =
    name === 'plain'
      ? connect(port, '127.0.0.1')
      : connectSecurely({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, name === 'plain' ? 'connect' : 'secureConnect');
  socket.write(bytes);
  return await text(socket);
}

// Browsers open connections ahead of their requests. One that used such a connection as its time was over took the answer as its own.
test.each(['plain', 'secure'] as const)(
  '%s: a connection that was never used is closed without an answer',
  async (name) => {
    failed = 0;
    expect(await received(name, '')).toBe('');
    expect(failed).toBe(0);
  },
);

test.each(['plain', 'secure'] as const)('%s: a request that stops half-way gets 400', async (name) => {
  failed = 0;
  expect(await received(name, 'GET / HTTP/1.1\r\nhost: loc')).toMatch(/^HTTP\/1\.1 400 /);
  expect(failed).toBeGreaterThan(0);
});

test.each(['plain', 'secure'] as const)(
  '%s: a connection that was used is closed without another answer',
  async (name) => {
    const answers = await received(name, 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  },
);
