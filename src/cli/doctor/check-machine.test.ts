import { X509Certificate } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readConfig } from '../../config/config.ts';
import { checkDisk, checkSealFile, checkSecret, checkTls } from './check-machine.ts';
import type { Diagnosis } from './diagnosis.ts';

const CERTIFICATES = join(import.meta.dirname, '../../../test/certificates');
const DAY_MS = 86_400_000;
const end = new X509Certificate(readFileSync(join(CERTIFICATES, 'server.pem'))).validToDate.getTime();

let folder: string;
let files: Record<string, string>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dbvitals-doctor-'));
  files = { TLS_CERT_FILE: join(folder, 'server.pem'), TLS_KEY_FILE: join(folder, 'server.key') };
  for (const name of ['server.pem', 'server.key']) copyFileSync(join(CERTIFICATES, name), join(folder, name));
  chmodSync(join(folder, 'server.key'), 0o640);
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

function only(found: readonly Diagnosis[]): Diagnosis {
  expect(found, JSON.stringify(found)).toHaveLength(1);
  const [one] = found;
  if (!one) throw new Error('nothing was found');
  expect(one.remedy === null).toBe(one.status === 'ok');
  return one;
}

test.each([
  [30, 'ok', /^The certificate is for DNS:localhost and expires on /],
  [5, 'warning', /expires in 5 days/],
  [-1, 'error', /^The certificate expired on /],
  [60_000, 'error', /not valid before/],
])('a certificate with %i days to its end: %s', (days, status, message) => {
  vi.useFakeTimers({ toFake: ['Date'], now: end - days * DAY_MS - 3_600_000 });
  const { status: found, message: told } = only(checkTls(readConfig(files)));
  expect([found, told]).toEqual([status, expect.stringMatching(message)]);
});

test('a key of another certificate, an invalid key, no key, and a key that every user can read', () => {
  chmodSync(join(folder, 'server.key'), 0o644);
  expect(only(checkTls(readConfig(files))).message).toMatch(/Every user .* can read the private key/);
  copyFileSync(join(CERTIFICATES, 'renewed.key'), join(folder, 'server.key'));
  expect(only(checkTls(readConfig(files))).message).toMatch(/does not match the first certificate/);
  writeFileSync(join(folder, 'server.key'), 'unspoken');
  expect(only(checkTls(readConfig(files)))).toMatchObject({
    status: 'error',
    message: 'TLS_KEY_FILE contains no PEM private key without a passphrase.',
  });
  rmSync(join(folder, 'server.key'));
  expect(only(checkTls(readConfig(files))).message).toMatch(/^TLS_KEY_FILE cannot be read \(ENOENT\)/);
});

test('certificate and key are read as editors of any system write them', () => {
  for (const name of ['server.pem', 'server.key']) {
    const lines = readFileSync(join(CERTIFICATES, name), 'utf8').replaceAll('\n', '\r\n');
    writeFileSync(
      join(folder, name),
      Buffer.from(`\ufeff${lines}`, name === 'server.key' ? 'utf8' : 'utf16le'),
    );
  }
  vi.useFakeTimers({ toFake: ['Date'], now: end - 30 * DAY_MS });
  expect(only(checkTls(readConfig(files))).status).toBe('ok');
});

test.each([
  [{}, 'ok'],
  [{ HOST: '0.0.0.0' }, 'warning'],
  [{ HOST: '0.0.0.0', DBVITALS_TRUST_PROXY: '10.0.0.1' }, 'ok'],
])('plain HTTP with %j: %s', (environment, status) => {
  expect(only(checkTls(readConfig(environment))).status).toBe(status);
});

test('a secret key in the data folder, outside of it, readable by every user, invalid and missing', () => {
  const data = join(folder, 'data');
  const look = (environment: Record<string, string>) =>
    checkSecret(
      readConfig({ DBVITALS_DATA_DIR: data, ...environment }),
      environment['DBVITALS_SECRET_KEY_FILE'] ?? null,
    );
  expect(only(look({})).message).toBe('The secret key will be created with the store.');
  mkdirSync(data);
  const beside = join(data, 'secret.key');
  writeFileSync(beside, 'ab'.repeat(32), { mode: 0o600 });
  expect(only(look({}))).toMatchObject({
    status: 'warning',
    message: expect.stringMatching(/in the same folder as the store/),
  });
  expect(only(look({ DBVITALS_SECRET_KEY_FILE: beside })).message).toMatch(/in the same folder as the store/);
  const elsewhere = join(folder, 'secret.key');
  writeFileSync(elsewhere, 'ab'.repeat(32), { mode: 0o600 });
  expect(only(look({ DBVITALS_SECRET_KEY_FILE: elsewhere })).status).toBe('ok');
  chmodSync(elsewhere, 0o644);
  expect(only(look({ DBVITALS_SECRET_KEY_FILE: elsewhere })).message).toMatch(/^Every user/);
  writeFileSync(beside, 'unspoken');
  const broken = only(look({}));
  expect(broken.status).toBe('error');
  expect(JSON.stringify(broken)).not.toContain('unspoken');
});

test('free disk space, and the seal file: not set, writable, and in a folder that does not exist', () => {
  expect(checkDisk(join(folder, 'not', 'yet')).message).toMatch(/^[0-9.]+ GiB \([0-9]+ %\) are free at /);
  expect(checkDisk('/proc').status).toBe('error'); // it has no blocks
  expect(only(checkSealFile(null))).toMatchObject({
    status: 'warning',
    message: expect.stringMatching(/kept only in the store/),
    remedy: expect.stringMatching(/DBVITALS_SEAL_FILE/),
  });
  expect(only(checkSealFile(join(folder, 'seals.ndjson'))).status).toBe('ok');
  expect(only(checkSealFile(join(folder, 'gone', 'seals.ndjson'))).status).toBe('error');
});
