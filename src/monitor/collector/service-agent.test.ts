import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { callService, ServiceAway } from './call-service.ts';
import { newKey } from './collector-key.ts';
import { redial } from './service-agent.ts';

// What a collector says of the certificate of its service, and how it follows a renewal without a restart.

const CERTIFICATES = join(import.meta.dirname, '../../../test/certificates');
const read = (name: string) => readFileSync(join(CERTIFICATES, name));
const pair = (name: string, key = 'server') => ({ cert: read(`${name}.pem`), key: read(`${key}.key`) });

const { key } = newKey();
const { signal } = new AbortController();
let folder: string;
let server: Server;
let url: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'agent-'));
  trust('authority');
  vi.stubEnv('NODE_EXTRA_CA_CERTS', join(folder, 'ca.pem'));
  redial();
  server = createServer(pair('server'), (request, response) =>
    request.resume().on('end', () => response.end('{}')),
  );
  server.listen(0, 'localhost');
  await once(server, 'listening');
  url = `https://localhost:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
  vi.unstubAllEnvs();
  redial();
});

function trust(name: string): void {
  copyFileSync(join(CERTIFICATES, `${name}.pem`), join(folder, 'ca.pem'));
}

/** The server has another certificate, and its connections are new. */
function serveWith(parts: ReturnType<typeof pair>): void {
  server.setSecureContext(parts);
  server.closeAllConnections();
}

const call = (to = url) =>
  callService({ url: to, name: 'a', account: 1, collector: 2, key }, 'work', { free: 1 }, signal);

test('a file of authorities that is replaced is read again with the next request that fails', async () => {
  expect(await call()).toEqual({});
  serveWith(pair('renewed', 'renewed'));
  await expect(call()).rejects.toEqual(
    new ServiceAway(
      "the certificate of the service is self-signed: add the authority to the system's certificates or to NODE_EXTRA_CA_CERTS",
    ),
  );
  trust('renewed');
  expect(await call()).toEqual({});
  // Who was taken out of the file is not trusted any more.
  serveWith(pair('server'));
  await expect(call()).rejects.toThrow(/not from a trusted authority/);
});

test('a file that is half written, or gone, changes nothing', async () => {
  expect(await call()).toEqual({});
  for (const spoil of [
    () => writeFileSync(join(folder, 'ca.pem'), read('renewed.pem').subarray(0, 200)),
    () => writeFileSync(join(folder, 'ca.pem'), ''),
    () => rmSync(join(folder, 'ca.pem')),
  ]) {
    spoil();
    redial();
    expect(await call()).toEqual({});
  }
});

test('what is wrong with a certificate is one sentence', async () => {
  trust('receivers-authority');
  serveWith(pair('expired'));
  await expect(call()).rejects.toEqual(
    new ServiceAway('the certificate of the service expired on 2025-03-01'),
  );
  serveWith(pair('hooks'));
  await expect(call()).rejects.toEqual(
    new ServiceAway('the certificate of the service is for another name (hooks.example.com)'),
  );
  const plain = createPlainServer().listen(0, 'localhost');
  await once(plain, 'listening');
  const { port } = plain.address() as AddressInfo;
  await expect(call(`https://localhost:${port}`)).rejects.toEqual(
    new ServiceAway(`the service does not speak TLS on port ${port}`),
  );
  plain.close();
  await expect(call(`https://localhost:${port}`)).rejects.toThrow(/ECONNREFUSED/);
});
