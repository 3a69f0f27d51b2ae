import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSecretFile } from './guarded-file.ts';
import { UsageError } from './usage-error.ts';

const own = { environment: {}, dataDir: '/nowhere' };

test('a group-readable file is rejected, unless root owns it and dbvitals is another user, as in Kubernetes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'guarded-'));
  const file = join(folder, 'secret');
  writeFileSync(file, 'unspoken');
  chmodSync(folder, 0o755);
  chmodSync(file, 0o440);
  expect(() => readSecretFile(file, own)).toThrow(UsageError);
  // The process below runs in the file's group. Only root can create files of root, so other users get a rejection too.
  const module = JSON.stringify(new URL('./guarded-file.ts', import.meta.url).href);
  const asRoot = process.getuid?.() === 0;
  const read = `const { readSecretFile } = await import(${module});
    ${asRoot ? 'process.setgroups([]); process.setgid(0); process.setuid(65534);' : ''}
    process.stdout.write(readSecretFile(${JSON.stringify(file)}, { environment: {}, dataDir: '/nowhere' }))`;
  const run = () => spawnSync(process.execPath, ['--input-type=module', '-e', read], { encoding: 'utf8' });
  expect(run()).toMatchObject(asRoot ? { status: 0, stdout: 'unspoken' } : { status: 1, stdout: '' });
  for (const mode of [0o444, 0o460]) {
    chmodSync(file, mode);
    expect(run()).toMatchObject({ status: 1, stdout: '' });
  }
  rmSync(folder, { recursive: true });
});

test('a secret in quotes is named, however the file was written', () => {
  const folder = mkdtempSync(join(tmpdir(), 'guarded-'));
  const file = join(folder, 'secret');
  const read = (bytes: string | Buffer) => {
    writeFileSync(file, bytes, { mode: 0o600 });
    return readSecretFile(file, own);
  };
  for (const bytes of ['"unspoken"\n', Buffer.from(`\ufeff'unspoken'\r\n`, 'utf16le')])
    expect(() => read(bytes)).toThrow(`The text in the file ${file} is in quotes: remove them.`);
  expect(read(`it's "so"\n`)).toBe(`it's "so"\n`);
  rmSync(folder, { recursive: true });
});
