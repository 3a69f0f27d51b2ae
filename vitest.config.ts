import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            'src/**/*.test.ts',
            'test/*.test.ts',
            'test/checks/**/*.test.ts',
            'test/clients/*.test.ts',
            'console/src/**/*.test.ts',
          ],
          globalSetup: ['test/scan-output.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'contract',
          include: ['test/contract/**/*.test.ts', 'client/test/**/*.test.ts'],
          globalSetup: ['test/scan-output.ts', 'test/global-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
    // Files wait for processes and windows more than they compute: one more than CI has cores. With 4 a store is silent for 2 s.
    maxWorkers: 3,
  },
});
