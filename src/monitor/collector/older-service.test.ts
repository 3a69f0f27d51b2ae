import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { Collector } from './collect.ts';
import { newKey } from './collector-key.ts';

// A collector may be one minor version newer than its service, which refuses fields that it does not know.

const RUN = '0199b2f4-6b5e-7c3a-9a41-2f5d0c9e7b11';
const JOB = {
  run: RUN,
  connection: 'shop',
  engine: 'postgres',
  instructions: { thresholds: {}, expectedStandbys: 0, before: [], facts: null },
};
const FIRST_FIELDS: Record<string, string[]> = {
  work: ['free', 'running', 'version'],
  result: ['measured', 'run'],
};

const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(gunzipSync(Buffer.concat(chunks)).toString());
}

/** A service that gives one run, and takes the fields of the first version and `takes`. */
async function serve(takes: string[] | null) {
  const asked: { action: string; fields: string[] }[] = [];
  let isFirst = true;
  const server = createServer(async (request, response) => {
    const action = request.url?.split('/').at(-1) ?? '';
    const fields = Object.keys(await readBody(request)).toSorted();
    asked.push({ action, fields });
    const known = FIRST_FIELDS[action];
    const isKnown = fields.every((field) => known?.includes(field) || takes?.includes(field));
    const status = known === undefined ? 404 : isKnown ? 200 : 400;
    const jobs = action === 'work' && isFirst ? [JOB] : [];
    const wait = jobs.length > 0 || status !== 200 ? 0 : 200;
    if (jobs.length > 0) isFirst = false;
    const refusal = { error: { code: 'invalid_parameter', message: 'Another form is expected.' } };
    const answer = { jobs, connections: ['shop'], later: { than: 'this' }, ...(takes && { takes }) };
    setTimeout(() => response.writeHead(status).end(JSON.stringify(status === 200 ? answer : refusal)), wait);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ended.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function collect(url: string) {
  const folder = mkdtempSync(join(tmpdir(), 'older-'));
  const stopped = new AbortController();
  const quiet = () => {};
  const parts = {
    identity: { url, name: 'a', account: 1, collector: 1, key: newKey().key },
    readTargets: () => new Map(), // the finding says that the file has no such connection
    version: '1.1.0',
    concurrency: 2,
    hasPulses: true,
    buffer: { folder, largest: 1024 * 1024 },
    log: { info: quiet, warn: quiet, error: quiet },
  };
  const run = new Collector(parts, stopped.signal).run();
  ended.unshift(async () => {
    stopped.abort();
    await run;
    rmSync(folder, { recursive: true });
  });
}

test.each([
  ['says nothing', null, ['free', 'running', 'version'], ['measured', 'run']],
  ['takes one more', ['looking'], ['free', 'looking', 'running', 'version'], ['measured', 'run']],
  [
    'takes all',
    ['looking', 'buffered', 'at'],
    ['buffered', 'free', 'looking', 'running', 'version'],
    ['at', 'measured', 'run'],
  ],
])('a service that %s gets no field that it does not take', async (_name, takes, work, result) => {
  const { asked, url } = await serve(takes);
  await collect(url);
  const last = (action: string) => asked.filter((one) => one.action === action).at(-1)?.fields;
  await expect.poll(() => last('result')).toEqual(result);
  await expect.poll(() => last('work')).toEqual(work);
  expect(asked[0]).toEqual({ action: 'work', fields: FIRST_FIELDS['work'] });
});
