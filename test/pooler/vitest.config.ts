import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { patience } from '../support/patience.ts';

/** Parts of the black-box suite and two files for the pooler, with every request through PgBouncer. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: [
      'test/pooler/*.test.ts',
      ...['crash', 'instances', 'rate-limit'].map((promise) => `test/contract/${promise}.test.ts`),
    ],
    globalSetup: ['test/pooler/setup.ts'],
    ...patience,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxWorkers: 2,
    reporters: ['./test/support/report.ts'],
  },
});
