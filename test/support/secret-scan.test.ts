import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { leaks, recordOutput } from './secret-scan.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dbvitals-output-'));
  vi.stubEnv('DBVITALS_TEST_OUTPUT', folder);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const PASSWORD = 'pass/word"=1';
const KEY = randomBytes(32);
const API_KEY = `dbv_live_${'x'.repeat(49)}`;

test.each([
  ['as it is', PASSWORD],
  ['in an URL', encodeURIComponent(PASSWORD)],
  ['in JSON', JSON.stringify({ p: PASSWORD })],
  ...['', 'u', 'u:', 'us:'].map((before) => [
    `in base64 after ${before}`,
    Buffer.from(`${before}${PASSWORD}~`).toString('base64'),
  ]),
  ['as bytes in hexadecimal', KEY.toString('hex')],
  ['as bytes in base64', KEY.toString('base64url')],
  ['that is any API key', `x ${API_KEY}`],
  ['that is a link', `GET /console/api/link/${'x-Y_0'.repeat(9).slice(0, 43)} 200`],
  ['that is an API key in base64', Buffer.from(`Bearer ${API_KEY}`).toString('base64')],
])('a secret %s is found in the output of another process', (_, printed) => {
  const url = `postgres://ada:${encodeURIComponent(PASSWORD)}@h/d`;
  recordOutput(['connection', 'add', '--url', url], { DBVITALS_SECRET_KEY: KEY.toString('hex') }, '', 'well');
  expect(leaks(folder)).toEqual([]);
  recordOutput(['serve'], {}, '', `before ${printed} after\n`);
  expect(leaks(folder)).toEqual([expect.stringContaining('dbvitals serve printed')]);
});

test.each([
  [['key', 'create', '--account', '1', '--json'], `{"id":1,"key":"${API_KEY}"}\n`],
  [['key', 'regenerate', '1'], `id   1\nkey  ${API_KEY}\n`],
  [
    ['serve'],
    `  API key      ${API_KEY} (shown once)\n\n  curl -H "Authorization: Bearer ${API_KEY}" http://127.0.0.1:1/api/v1/health/fleet\n`,
  ],
])('an API key in the output of %j is not a leak, but elsewhere it is', (args, output) => {
  recordOutput(args, {}, '', output);
  expect(leaks(folder)).toEqual([]);
  recordOutput(['key', 'list'], {}, '', output);
  recordOutput(args, {}, '', `${output}warning: ${API_KEY}\n`);
  expect(leaks(folder)).toHaveLength(2);
});

const LINK = `http://127.0.0.1:1/link/${'x-Y_0'.repeat(9).slice(0, 43)}`;

test.each([
  [['member', 'link', '--account', '1'], `link        ${LINK}\npurpose     owner\n`],
  [['member', 'link', '--account', '1', '--json'], `{"link":"${LINK}","purpose":"owner"}\n`],
  [['serve'], `  sign in      ${LINK} (once, within 24 h)\n`],
])('a link in the output of %j is not a leak, but elsewhere it is', (args, output) => {
  recordOutput(args, {}, '', output);
  expect(leaks(folder)).toEqual([]);
  recordOutput(['member', 'list'], {}, '', output);
  recordOutput(args, {}, '', `${output}warning: ${LINK}\n`);
  expect(leaks(folder)).toHaveLength(2);
});
