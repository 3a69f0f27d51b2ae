import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ResultBuffer } from './buffer.ts';
import { Collector } from './collect.ts';
import { newKey } from './collector-key.ts';

// A service that gave a run, and then answers no question for work any more.

const JOB = {
  run: '0199b2f4-6b5e-7c3a-9a41-2f5d0c9e7b12',
  connection: 'shop',
  engine: 'postgres',
  every: 5,
  instructions: { thresholds: {}, expectedStandbys: 0, before: [], facts: null },
};
const quiet = () => {};
const log = { info: quiet, warn: quiet, error: quiet };
const ended: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ended.splice(0)) await end();
});

/** A service whose answer to a question for work is this one after the first. Returns its URL. */
async function serve(answer: (response: ServerResponse) => void): Promise<string> {
  let isFirst = true;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (!request.url?.endsWith('/work')) response.end('{}');
      else if (isFirst) response.end(JSON.stringify({ jobs: [JOB], connections: ['shop'] }));
      else answer(response);
      if (request.url?.endsWith('/work')) isFirst = false;
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ended.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const refuse = (status: number, message: string) => (response: ServerResponse) =>
  response.writeHead(status).end(JSON.stringify({ error: { message } }));

test.concurrent.each([
  ['has no time for it', refuse(429, 'Too many requests.'), true],
  ['fails', refuse(500, 'No store.'), true],
  [
    'is behind a gateway that gave up',
    (response: ServerResponse) => response.writeHead(504).end('<html>'),
    true,
  ],
  ['hangs up', (response: ServerResponse) => response.destroy(), true],
  ['does not know it', refuse(401, 'It may be revoked.'), false],
])('a collector whose service %s measures on, unless it was refused', async (_, answer, isKept) => {
  const folder = mkdtempSync(join(tmpdir(), 'busy-'));
  const stopped = new AbortController();
  const buffer = { folder, largest: 1024 * 1024 };
  const collector = new Collector(
    {
      identity: { url: await serve(answer), name: 'a', account: 1, collector: 1, key: newKey().key },
      readTargets: () => new Map(), // the finding says that the file has no such connection
      version: '1.0.0',
      concurrency: 2,
      hasPulses: false,
      buffer,
      log,
    },
    stopped.signal,
  ).run();
  await new Promise((done) => setTimeout(done, 7_500));
  stopped.abort();
  await collector;
  const kept = new ResultBuffer(folder, buffer.largest, log);
  expect(kept.size().results > 0).toBe(isKept);
  kept.close();
  rmSync(folder, { recursive: true });
});
