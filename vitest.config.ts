import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { patience } from './test/support/patience.ts';
import { choosePart, rotate } from './test/support/rotation.ts';

/** The longest files, whatever else they are: begun first, so that none of them runs alone at the end. */
const SLOW = [
  'test/contract/window.test.ts',
  'test/contract/secret-rotation.test.ts',
  'test/checks/life.test.ts',
  'test/contract/own-store.test.ts',
  'src/monitor/session/postgres-hostile.store.test.ts',
  'src/monitor/schedule.store.test.ts',
  'src/monitor/run.store.test.ts',
  'src/api/endpoints/ticket-plans.store.test.ts',
  'test/checks/boundaries.test.ts',
  'test/checks/provoked.test.ts',
  'test/contract/collector-sees.test.ts',
];

process.env['DBVITALS_TEST_PART'] = choosePart(process.argv);

/** Files of rare and long ways, of which each run takes a fifth (test/support/rotation.ts). */
const ROTATED = [
  'src/api/endpoints/ticket-plans.store.test.ts',
  'src/store/directory/move/copied-exactly.store.test.ts',
  'src/store/directory/move/hostile-cells.store.test.ts',
  'src/store/directory/move/interrupted.store.test.ts',
  'src/store/directory/move/kept-while-moving.store.test.ts',
  'src/store/directory/move/left-alone.store.test.ts',
  'src/store/directory/move/lost-cells.store.test.ts',
  'src/store/directory/move/newest-after-return.store.test.ts',
  'src/store/directory/move/refused-moves.store.test.ts',
  'src/store/directory/move/undo/stale-directory.store.test.ts',
  'test/cells/apart.store.test.ts',
  'test/cells/left.store.test.ts',
  'test/cells/monitor.store.test.ts',
  'test/cells/standby.store.test.ts',
  'test/checks/failover-change.test.ts',
  'test/contract/failover.test.ts',
  'test/contract/frozen-primary.test.ts',
  'test/contract/moved-folder.test.ts',
  'test/contract/secret-rotation.test.ts',
  'test/contract/start-together.test.ts',
];
const later = ROTATED.filter((file) => !rotate(ROTATED).includes(file));

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

const timeouts = { ...patience, testTimeout: 180_000, hookTimeout: 180_000 };
const setupFiles = ['test/support/each-file.ts'];
/** The files of a worker share a process, its modules, and its commands' process: 0.4 s of CPU less for each. */
const shared = { ...timeouts, setupFiles, isolate: false };
const STORE_SETUP = ['test/support/scan-output.ts', 'test/support/run-setup.ts'];
const SERVICE_SETUP = [...STORE_SETUP, 'test/support/global-setup.ts'];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...timeouts,
          name: 'unit',
          include: ['{src,console/src}/**/*.test.ts', 'test/{house,support,clients,patroni}/*.test.ts'],
          exclude: ['**/*.store.test.ts'],
          setupFiles: ['test/support/forbid-processes.ts'],
          // Half of the time: modules are loaded once.
          pool: 'threads',
          isolate: false,
        },
      },
      {
        test: {
          ...shared,
          name: 'store',
          include: ['{src,test}/**/*.store.test.ts', 'test/checks/**/*.test.ts'],
          exclude: [...SLOW, ...later],
          globalSetup: STORE_SETUP,
        },
      },
      {
        test: {
          ...shared,
          name: 'contract',
          include: ['test/contract/*.test.ts', 'client/test/*.test.ts'],
          exclude: [...SLOW, ...later],
          globalSetup: SERVICE_SETUP,
        },
      },
      { test: { ...shared, name: 'slow', include: SLOW, exclude: later, globalSetup: SERVICE_SETUP } },
    ],
    // Files wait for processes and windows more than they compute: one more than CI has cores. With 4 a store is silent for 2 s.
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
    reporters: ['./test/support/report.ts'],
  },
});
