import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Parts of the black-box suite and two files for the pooler, with every request through PgBouncer. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: [
      'test/pooler/*.test.ts',
      ...['crash', 'instances', 'rate-limit'].map((promise) => `test/contract/${promise}.test.ts`),
    ],
    globalSetup: ['test/pooler/setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    reporters: ['./test/support/report.ts'],
  },
});
