import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

test('no test starts a process in the folder that all programs of a machine share', () => {
  const files = globSync('{src,test,client/test}/**/*.ts', { cwd: ROOT, exclude: ['**/node_modules'] });
  expect(files.length).toBeGreaterThan(500);
  const shared = files.filter((file) =>
    /cwd: (tmpdir\(\)|'\/tmp)/.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  expect(shared).toEqual([]);
});
