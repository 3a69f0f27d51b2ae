import { existsSync, globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { serverPrograms } from '../../src/store/server.ts';
import { oldPrograms } from '../checks/postgres-server.ts';
import { rootPostgres } from '../roots/root-program.ts';
import { installOnce } from '../support/install-once.ts';
import { runTests } from '../support/run-tests.ts';

// Runs the tests of the checks on every version of PostgreSQL, or on the versions given as arguments. With `--short`, for CI,
// without those of what is the same in each version: 14 and 18 have them in `npm test`.
const SAME = ['boundaries', 'hosted', 'interrupted-sample', 'life', 'sample-data', 'sample-measures'];

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../..');

/** 14 comes with the tests and 18 with the store. The others are installed here to keep `npm ci` in the root small. */
const FOLDERS: Record<string, () => string> = {
  14: oldPrograms,
  15: () => installed('15'),
  16: () => installed('16'),
  17: () => installed('17'),
  '17-debian': rootPostgres,
  18: serverPrograms,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean' } },
});
const versions = positionals.length > 0 ? positionals : Object.keys(FOLDERS);
for (const version of versions) {
  if (!(version in FOLDERS)) {
    console.error(`There is no PostgreSQL ${version} here: name some of ${Object.keys(FOLDERS).join(', ')}.`);
    process.exit(2);
  }
}
if (versions.some((version) => ['15', '16', '17'].includes(version))) installOnce('test/matrix');
// By name: Vitest takes `--exclude` for none of its projects.
const files = globSync('test/checks/**/*.test.ts', { cwd: root }).filter(
  (file) => !values.short || !SAME.includes(basename(file, '.test.ts')),
);
for (const version of versions) {
  const started = performance.now();
  const code = await runTests(files, {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1', TEST_POSTGRES_PROGRAMS: FOLDERS[version]?.() ?? '' },
  });
  const seconds = Math.round((performance.now() - started) / 1000);
  if (code !== 0) process.exitCode = 1;
  console.log(`PostgreSQL ${version}: ${code === 0 ? 'green' : 'RED'}, ${seconds} s`);
}

function installed(version: string): string {
  const programs = join(here, `node_modules/postgres-${version}-${process.platform}-${process.arch}/native`);
  if (existsSync(programs)) return programs;
  throw new Error(`The registry has no PostgreSQL ${version} for ${process.platform} on ${process.arch}.`);
}
