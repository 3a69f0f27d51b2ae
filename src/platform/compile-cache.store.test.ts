import { spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dbvitals-cache-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function start(environment: Record<string, string>) {
  const main = join(import.meta.dirname, '../dbvitals.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, '--version'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...environment },
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^0\.\d+\.\d+/);
}

test('a command keeps compiled code in the cache folder of its user, readable by no other', () => {
  start({ XDG_CACHE_HOME: join(folder, 'cache') });
  const kept = readdirSync(join(folder, 'cache/dbvitals'), { recursive: true }).length;
  expect(kept).toBeGreaterThan(50);
  expect(kept, 'files for --version, which needs no command').toBeLessThan(200);
  expect(statSync(join(folder, 'cache/dbvitals')).mode & 0o077).toBe(0);
  start({ HOME: folder });
  expect(existsSync(join(folder, '.cache/dbvitals'))).toBe(true);
});

test('a home that does not exist, or a file in its place, is no error', () => {
  writeFileSync(join(folder, 'file'), '');
  start({ HOME: join(folder, 'file') });
  start({ HOME: '/proc/nonexistent' });
});

test.runIf(process.getuid?.() === 0)('a folder of another user is not used: it could hold their code', () => {
  mkdirSync(join(folder, 'dbvitals'));
  chownSync(join(folder, 'dbvitals'), 65_534, 65_534);
  start({ XDG_CACHE_HOME: folder });
  expect(readdirSync(join(folder, 'dbvitals'))).toEqual([]);
});
