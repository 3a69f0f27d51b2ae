import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The longest files, whatever else they are: begun first, so that none of them runs alone at the end. */
const SLOW = [
  'test/contract/window.test.ts',
  'test/contract/secret-rotation.test.ts',
  'test/checks/life.test.ts',
  'test/contract/own-store.test.ts',
  'src/monitor/session/postgres-hostile.store.test.ts',
  'src/monitor/schedule.store.test.ts',
  'src/monitor/run.store.test.ts',
  'src/ops/ticket-plans.store.test.ts',
  'test/checks/boundaries.test.ts',
  'test/checks/provoked.test.ts',
];

/** Begins with the slow tier, and with what takes longest. */
export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const found = SLOW.findIndex((file) => moduleId.endsWith(`/${file}`));
      return found < 0 ? SLOW.length : found;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

const timeouts = { testTimeout: 180_000, hookTimeout: 180_000 };
const setupFiles = ['test/property-limit.ts'];
const STORE_SETUP = ['test/scan-output.ts', 'test/run-setup.ts'];
const SERVICE_SETUP = [...STORE_SETUP, 'test/global-setup.ts'];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...timeouts,
          name: 'unit',
          include: ['{src,console/src}/**/*.test.ts', 'test/*.test.ts', 'test/{clients,patroni}/*.test.ts'],
          exclude: ['**/*.store.test.ts'],
          setupFiles: ['test/forbid-processes.ts'],
          // Half of the time: modules are loaded once.
          pool: 'threads',
          isolate: false,
        },
      },
      {
        test: {
          ...timeouts,
          name: 'store',
          include: ['{src,test}/**/*.store.test.ts', 'test/checks/**/*.test.ts'],
          exclude: SLOW,
          globalSetup: STORE_SETUP,
          setupFiles,
        },
      },
      {
        test: {
          ...timeouts,
          name: 'contract',
          include: ['test/contract/*.test.ts', 'client/test/*.test.ts'],
          exclude: SLOW,
          globalSetup: SERVICE_SETUP,
          setupFiles,
        },
      },
      { test: { ...timeouts, name: 'slow', include: SLOW, globalSetup: SERVICE_SETUP, setupFiles } },
    ],
    // Files wait for processes and windows more than they compute: one more than CI has cores. With 4 a store is silent for 2 s.
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
  },
});
