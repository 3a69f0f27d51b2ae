import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runTests } from '../support/run-tests.ts';
import { SERVERS } from './tested-server.ts';

// Runs the MySQL tests on each server, or on those given as arguments. With `--short`, for CI, without those of what does not
// depend on the server: another has them.
const SAME = ['ed25519', 'life'];

const { values, positionals: given } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean' } },
});
const unknown = given.find((name) => !SERVERS.some((server) => server === name));
if (unknown !== undefined) {
  console.error(`There is no server ${unknown} here: name some of ${SERVERS.join(', ')}.`);
  process.exit(2);
}
const left = values.short ? SAME.flatMap((name) => ['--exclude', `test/mysql/${name}.test.ts`]) : [];
const root = join(import.meta.dirname, '../..');
for (const server of given.length > 0 ? given : SERVERS) {
  const started = performance.now();
  const code = await runTests(['--config', 'test/mysql/vitest.config.ts', ...left], {
    cwd: root,
    env: { ...process.env, TEST_MYSQL_SERVER: server },
  });
  const seconds = Math.round((performance.now() - started) / 1_000);
  console.log(`${server}: ${code === 0 ? 'green' : 'RED'}, ${seconds} s`);
  if (code !== 0) process.exitCode = 1;
}
