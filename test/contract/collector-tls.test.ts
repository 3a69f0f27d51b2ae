import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { commandJson } from './command.ts';
import { freePort } from './free-port.ts';
import { type Service, startProcess, startService, temporaryFolder } from './running-service.ts';

// The certificate of the service is renewed, by another authority too, under a collector that runs on.

const CERTIFICATES = join(import.meta.dirname, '../certificates');
const folder = temporaryFolder();
const path = (name: string) => join(folder.path, name);
let service: Service | undefined;

afterAll(async () => {
  await service?.stop();
  folder.remove();
});

/** Starts the service anew with this certificate, so that each connection to it is new. */
async function serveWith(port: number, certificate: string, key: string): Promise<void> {
  await service?.stop();
  copyFileSync(join(CERTIFICATES, `${certificate}.pem`), path('own.pem'));
  copyFileSync(join(CERTIFICATES, `${key}.key`), path('own.key'));
  const files = { TLS_CERT_FILE: path('own.pem'), TLS_KEY_FILE: path('own.key') };
  service = await startService({ ...inject('sharedStore'), ...files, PORT: String(port) }, ['--no-monitor']);
}

function trust(...names: string[]): void {
  writeFileSync(
    path('ca.pem'),
    names.map((name) => readFileSync(join(CERTIFICATES, `${name}.pem`))).join('\n'),
  );
}

test('a collector follows the certificate and the authorities of its service without a restart', async () => {
  const { id } = await makeAccount();
  const port = await freePort();
  trust('authority');
  await serveWith(port, 'server', 'server');
  const enrol = ['collector', 'enrol', '--account', `${id}`, '--name', 'tls'];
  const { token } = await commandJson<{ token: string }>(enrol);
  writeFileSync(path('token'), token, { mode: 0o600 });
  writeFileSync(path('collector.yaml'), JSON.stringify({ connections: {} }), { mode: 0o600 });
  const files = ['--file', path('collector.yaml'), '--token-file', path('token'), '--folder', path('key')];
  const collector = startProcess(
    ['collect', '--url', `https://localhost:${port}`, '--name', 'tls', ...files],
    {
      NODE_EXTRA_CA_CERTS: path('ca.pem'),
    },
  );
  const resumed = () => collector.output().split('the service gives work again').length - 1;
  const resumes = (times: number) => expect.poll(resumed, { interval: 200 }).toBe(times);
  try {
    await collector.says(/the collector runs/);
    await serveWith(port, 'renewed', 'renewed');
    await collector.says(/the certificate of the service is self-signed: add the authority/);
    trust('authority', 'renewed');
    await resumes(1);

    trust('authority', 'renewed', 'receivers-authority');
    await serveWith(port, 'expired', 'server');
    await collector.says(/the certificate of the service expired on 2025-03-01/);
    await serveWith(port, 'server', 'server');
    await resumes(2);
  } finally {
    expect(await collector.stop()).toBe(0);
  }
}, 240_000);
