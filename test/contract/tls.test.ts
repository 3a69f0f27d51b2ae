import { X509Certificate } from 'node:crypto';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import net from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { connect, type PeerCertificate } from 'node:tls';
import { afterAll, expect, inject, test } from 'vitest';
import { makeAccount } from './account.ts';
import { command } from './command.ts';
import { freePort } from './free-port.ts';
import { sendRaw } from './raw.ts';
import { startProcess, startService, temporaryFolder } from './running-service.ts';

const CERTIFICATES = join(import.meta.dirname, '../certificates');
const folder = temporaryFolder();
const account = makeAccount();
afterAll(() => folder.remove());

function put(name: 'server' | 'renewed', parts = ['pem', 'key']): void {
  for (const part of parts)
    copyFileSync(join(CERTIFICATES, `${name}.${part}`), join(folder.path, `own.${part}`));
}

const files = { TLS_CERT_FILE: join(folder.path, 'own.pem'), TLS_KEY_FILE: join(folder.path, 'own.key') };
const endOf = (name: string) =>
  new X509Certificate(readFileSync(join(CERTIFICATES, `${name}.pem`))).validToDate.getTime() / 1_000;
const ca = ['authority.pem', 'renewed.pem'].map((name) => readFileSync(join(CERTIFICATES, name)));

/** One request by a connection of its own, as a client that trusts both issuers. */
function get(url: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>(
    (resolve, reject) => {
      const options = { ca, servername: 'localhost', headers, agent: false };
      const request = https.get(url, options, (response) => {
        text(response).then(
          (body) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
          reject,
        );
      });
      request.once('error', reject);
    },
  );
}

/** The issuers that connections of now see. */
async function issuers(origin: string): Promise<string[]> {
  const { hostname, port } = new URL(origin);
  const seen = await Promise.all(
    Array.from({ length: 12 }, () => {
      const socket = connect({ host: hostname, port: Number(port), ca, servername: 'localhost' });
      return new Promise<PeerCertificate>((resolve, reject) => {
        socket.once('secureConnect', () => {
          resolve(socket.getPeerCertificate());
          socket.end();
        });
        socket.once('error', reject);
      });
    }),
  );
  return [...new Set(seen.map(({ issuer }) => String(issuer.CN)))];
}

test('API and console by TLS, and a new certificate without a restart', async () => {
  put('server');
  const metricsPort = await freePort();
  const settings = {
    ...inject('sharedStore'),
    ...files,
    METRICS_PORT: String(metricsPort),
    LOG_LEVEL: 'info',
  };
  const service = await startService(settings, ['--no-monitor']);
  const { origin } = service;
  expect(origin).toMatch(/^https:/);
  const { key } = await account;
  const list = await get(`${origin}/api/v1/health/connections`, { authorization: `Bearer ${key}` });
  expect(list.status).toBe(200);
  expect(list.headers['link']).toMatch(new RegExp(`^<${origin}/api/v1/`));
  expect((await get(`${origin}/sign-in`, { accept: 'text/html' })).status).toBe(200);
  expect((await get(`${origin}/console/api/sign-in`)).status).toBe(200);
  const good = `GET /api/v1/health/fleet HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  for (const bytes of [`${good}GARBAGE\r\n\r\n`, [good, 'GARBAGE\r\n\r\n']])
    expect((await sendRaw(bytes, { origin })).map(({ status }) => status)).toEqual([200, 400]);
  const until = async () => {
    const figures = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    return Number(/^dbvitals_tls_certificate_expiry_timestamp_seconds (\S+)$/m.exec(figures)?.[1]);
  };
  expect(await until()).toBe(endOf('server'));
  await expect(fetch(origin.replace('https:', 'http:'))).rejects.toThrow();
  expect(await issuers(origin)).toEqual(['dbvitals test authority']);

  // Half of a renewal, and a file that went: what was served is served on.
  put('renewed', ['pem']);
  process.kill(service.pid, 'SIGHUP');
  await service.says(/keeping the old certificate/);
  rmSync(files.TLS_KEY_FILE);
  writeFileSync(files.TLS_KEY_FILE, 'unspoken');
  process.kill(service.pid, 'SIGHUP');
  await service.says(/TLS_KEY_FILE contains no PEM private key/);
  expect(await issuers(origin)).toEqual(['dbvitals test authority']);
  put('renewed');
  process.kill(service.pid, 'SIGHUP');
  await service.says(/serving the new certificate/);
  expect(await until()).toBe(endOf('renewed'));
  expect(await issuers(origin)).toEqual(['localhost']);

  // A connection without a handshake is not waited for.
  const silent = net.connect(Number(new URL(origin).port), '127.0.0.1').on('error', () => {});
  await wait(100);
  const began = performance.now();
  expect(await service.stop()).toBe(0);
  expect(performance.now() - began).toBeLessThan(30_000);
  silent.destroy();
  expect(service.output()).not.toContain('unspoken');
});

test('files that are no pair end the start with a sentence, before anything else', async () => {
  put('server', ['pem']);
  put('renewed', ['key']);
  const { ended, output } = startProcess(['serve'], { ...inject('sharedStore'), ...files, PORT: '0' });
  expect(await ended).toBe(1);
  expect(output()).toBe(
    'error: The key in TLS_KEY_FILE does not match the first certificate in TLS_CERT_FILE.\n',
  );
});

test('an expired certificate is one line of the log at the start, and the service serves with it', async () => {
  copyFileSync(join(CERTIFICATES, 'expired.pem'), join(folder.path, 'own.pem'));
  put('server', ['key']);
  const service = await startService({ ...inject('sharedStore'), ...files, LOG_LEVEL: 'error' }, [
    '--no-monitor',
  ]);
  expect(await service.stop()).toBe(0);
  const lines = service
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'));
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      level: 50,
      msg: expect.stringMatching(/^TLS: the certificate in TLS_CERT_FILE expired on 2025-03-01T/),
    },
  ]);
});

test('the doctor looks at the service and its certificate', async () => {
  put('server');
  const port = String(await freePort());
  const environment = { ...inject('sharedStore'), ...files, HOST: '127.0.0.1', PORT: port };
  const service = await startService(environment, ['--no-monitor']);
  const doctor = async () => {
    const { exit, stdout } = await command(['doctor', '--json'], { environment });
    const { status, diagnoses } = JSON.parse(stdout) as {
      status: string;
      diagnoses: { about: string; status: string; message: string; remedy: string | null }[];
    };
    return { exit, status, of: (about: string) => diagnoses.findLast((one) => one.about === about) };
  };
  const well = await doctor();
  expect(well.exit).toBe(0);
  expect(well.of('service')).toMatchObject({ status: 'ok' });
  put('renewed'); // the service has 5 s to see it
  const renewed = await doctor();
  expect(renewed.of('service')).toMatchObject({
    status: 'warning',
    message: expect.stringMatching(/a different certificate/),
  });
  expect([renewed.exit, renewed.status]).toEqual([0, 'warning']);
  await service.stop();
  expect((await doctor()).of('service')).toMatchObject({ status: 'warning' });
  environment.TLS_KEY_FILE = join(folder.path, 'own.pem');
  const wrong = await doctor();
  expect([wrong.exit, wrong.status, wrong.of('tls')?.status]).toEqual([1, 'error', 'error']);
  const unset = await command(['doctor'], { environment: { ...environment, PORT: 'x', TLS_CERT_FILE: '' } });
  expect(unset.exit).toBe(1);
  expect(unset.stdout.match(/^error +settings +/gm)).toHaveLength(2);
});
