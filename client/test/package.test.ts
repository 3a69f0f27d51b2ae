import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { afterAll, expect, test } from 'vitest';

const folder = fileURLToPath(new URL('..', import.meta.url));
const built = mkdtempSync(join(tmpdir(), 'dbvitals-client-'));
afterAll(() => rmSync(built, { recursive: true }));

const run = (program: string, ...args: string[]) =>
  execFileSync(join(folder, 'node_modules/.bin', program), args, { cwd: folder, encoding: 'utf8' });

test('the types are those of openapi.json', () => {
  // Exits with 1 when they are not: run "npm run openapi".
  run('openapi-typescript', '../openapi.json', '--output', 'src/schema.ts', '--check');
});

test('it builds to JavaScript and declarations, and with its dependency is under 10 kB', async () => {
  run('tsc', '--outDir', built);
  expect(existsSync(join(built, 'index.d.ts'))).toBe(true);
  const bundle = await rolldown({
    input: join(built, 'index.js'),
    platform: 'browser',
    resolve: { alias: { 'openapi-fetch': fileURLToPath(import.meta.resolve('openapi-fetch')) } },
  });
  const { output } = await bundle.generate({ minify: true });
  expect(output).toHaveLength(1);
  const size = gzipSync(output[0].code).length;
  expect(size).toBeGreaterThan(1_000);
  expect(size).toBeLessThan(10_000);
  console.log(`the client with its dependency: ${output[0].code.length} bytes, ${size} gzipped`);
});

test('it declares what it is', () => {
  const { dependencies, type, exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  expect(Object.keys(dependencies)).toEqual(['openapi-fetch']);
  expect(type).toBe('module');
  expect(Object.keys(exports)).toEqual(['.']);
});
