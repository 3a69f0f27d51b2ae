import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Tests with real receivers, which `npm ci` does not install: `npm run test:receivers`. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/receivers/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    reporters: ['./test/support/report.ts'],
  },
});
