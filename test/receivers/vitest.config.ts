import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { patience } from '../support/patience.ts';

/** Tests with real receivers, which `npm ci` does not install: `npm run test:receivers`. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/receivers/*.test.ts'],
    ...patience,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxWorkers: 2,
    reporters: ['./test/support/report.ts'],
  },
});
