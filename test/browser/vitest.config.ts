import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongFirst } from '../../vitest.config.ts';

const shared = {
  // Chromium's clock decides here: what fails once is tried again, and the report names it.
  retry: 1,
  testTimeout: 120_000,
  expect: { poll: { timeout: 20_000, interval: 100 } },
  hookTimeout: 180_000,
};

/** Tests that need Chromium, which `npm ci` does not install: `npm run test:browser`. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    globalSetup: ['test/scan-output.ts', 'test/run-setup.ts'],
    sequence: { sequencer: LongFirst },
    projects: [
      {
        test: {
          ...shared,
          name: 'browser',
          include: ['test/browser/*.test.ts'],
          exclude: ['test/browser/figures.test.ts'],
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Timed tests run alone.
        test: {
          ...shared,
          name: 'figures',
          include: ['test/browser/{figures,first-start,first-steps,notifications}.test.ts'],
          env: { DBVITALS_TEST_ALONE: 'yes' },
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
