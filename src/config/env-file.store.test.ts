import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'dbvitals-env-'));
afterAll(() => rmSync(folder, { recursive: true }));

const module = JSON.stringify(new URL('config.ts', import.meta.url).href);
const program = `const { loadConfig } = await import(${module});
  const { port, basePath, publicUrl } = loadConfig();
  process.stdout.write(JSON.stringify([port, basePath, publicUrl]));`;

/** The settings of a program that is started beside this file. */
function settingsWith(bytes: Buffer | string, environment: Record<string, string> = {}): unknown {
  writeFileSync(join(folder, '.env'), bytes);
  const env = { PATH: process.env['PATH'] ?? '', ...environment };
  const args = ['--input-type=module', '-e', program];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' });
  return stdout === '' ? stderr : JSON.parse(stdout);
}

const LINES =
  'PORT=9191\r\nexport DBVITALS_BASE_PATH="/db"\r\n# PORT=1\r\nDBVITALS_PUBLIC_URL=https://a.b\r\n';

test.each<[string, Buffer | string]>([
  ['CRLF', LINES],
  ['a byte order mark', `\ufeff${LINES}`],
  ['UTF-16', Buffer.from(`\ufeff${LINES}`, 'utf16le')],
  ['UTF-16 without a mark', Buffer.from(LINES, 'utf16le')],
  ['big-endian UTF-16', Buffer.from(`\ufeff${LINES}`, 'utf16le').swap16()],
  ['blanks that nobody sees', LINES.replace('9191', '\u00a09191\u200b')],
])('a .env with %s is read, its first line too', (_, bytes) => {
  expect(settingsWith(bytes)).toEqual([9191, '/db', 'https://a.b']);
});

test('the environment takes precedence over .env, also where it is empty', () => {
  expect(settingsWith(LINES, { PORT: '7', DBVITALS_PUBLIC_URL: '' })).toEqual([7, '/db', null]);
});
