import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** What takes Chromium, which `npm ci` does not bring: `npm run test:browser`. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    include: ['test/browser/*.test.ts'],
    globalSetup: ['test/scan-output.ts'],
    testTimeout: 60_000,
    expect: { poll: { timeout: 20_000, interval: 100 } },
    hookTimeout: 180_000,
    // Figures are taken: nothing runs beside.
    maxWorkers: 1,
    fileParallelism: false,
  },
});
