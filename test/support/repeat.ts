import { spawnSync } from 'node:child_process';

// Runs one test file again and again: `npm run test:repeat -- FILE N`. No test gets a second attempt. Further arguments are
// Vitest's, such as `--config test/mysql/vitest.config.ts`.

const [, , file, count, ...rest] = process.argv;
const times = Number(count);
if (!file || !Number.isInteger(times) || times < 1) {
  console.error('usage: npm run test:repeat -- FILE N [OPTIONS OF VITEST]');
  process.exit(2);
}
let passed = 0;
for (let n = 1; n <= times; n += 1) {
  const began = performance.now();
  const { status, stdout, stderr } = spawnSync('vitest', ['run', ...rest, file], {
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status === 0) passed += 1;
  else console.log(stdout + stderr);
  const seconds = ((performance.now() - began) / 1_000).toFixed(1);
  console.log(`${n} of ${times}: ${status === 0 ? 'passed' : 'FAILED'}, ${seconds} s`);
}
console.log(`${file}: ${passed} of ${times} runs passed.`);
if (passed < times) process.exitCode = 1;
