import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Of those that take a minute and more: begun last, one of them would run alone at the end.
const LONG = /\/(life|window|limits|boundaries|provoked|browser\/pages)\.test\.ts$/;

/** Begins with what takes longest. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId);
    return (await super.sort(files)).sort((a, b) => Number(isLong(b)) - Number(isLong(a)));
  }
}

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
          globalSetup: ['test/scan-output.ts', 'test/run-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'contract',
          include: ['test/contract/**/*.test.ts', 'client/test/**/*.test.ts'],
          globalSetup: ['test/scan-output.ts', 'test/run-setup.ts', 'test/global-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
    // Files wait for processes and windows more than they compute: one more than CI has cores. With 4 a store is silent for 2 s.
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
  },
});
