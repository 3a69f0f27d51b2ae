import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongFirst } from '../../vitest.config.ts';
import { patience } from '../support/patience.ts';

const shared = {
  ...patience,
  testTimeout: 180_000,
  hookTimeout: 180_000,
  // One browser per worker, and its modules are loaded once.
  isolate: false,
};

/** Tests that need Chromium, which `npm ci` does not install: `npm run test:browser`. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    globalSetup: [
      'test/support/scan-output.ts',
      'test/support/run-setup.ts',
      'test/browser/shared-service.ts',
    ],
    sequence: { sequencer: LongFirst },
    reporters: ['./test/support/report.ts'],
    projects: [
      {
        test: {
          ...shared,
          name: 'browser',
          include: ['test/browser/*.test.ts'],
          exclude: ['test/browser/*figures.test.ts'],
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // Timed tests run alone.
        test: {
          ...shared,
          name: 'figures',
          include: ['test/browser/{figures,charts-figures,first-start,first-steps,notifications}.test.ts'],
          env: { DBVITALS_TEST_ALONE: 'yes' },
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
