import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readCollectorFile } from './collector-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'collector-file-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Reads a file with so many connections. */
function read(count: number): number {
  const url = `postgres://dbvitals_watcher:a-password-of-some-length@database.internal.example.com:5432/shop`;
  const names = Array.from({ length: count }, (_, n) => `connection ${n}`);
  const path = join(folder, 'collector.yaml');
  const text = JSON.stringify({ connections: Object.fromEntries(names.map((name) => [name, { url }])) });
  writeFileSync(path, text, { mode: 0o600 });
  return readCollectorFile(path, { environment: {}, dataDir: join(folder, 'none') }).size;
}

test('a file may have a thousand connections, and is at most 1 MiB', () => {
  expect(read(1_000)).toBe(1_000);
  expect(() => read(10_000)).toThrow('is over 1024 KiB');
});
