import { writeFileSync } from 'node:fs';
import { DefaultReporter, type TestCase, type TestModule, type TestSpecification } from 'vitest/node';

const SLOWEST = 20;
/** With more files than these, only failed ones have a line. */
const FEW_FILES = 10;

/**
 * Vitest's report, shorter: failures in full, a line for every hundred files, and at the end the slowest tests. It writes the
 * files whose tests failed where `run-tests.ts` reads them, unless an error outside of a test failed the run.
 */
export default class Report extends DefaultReporter {
  #files = 0;
  #done = 0;

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#files = specifications.length;
    super.onTestRunStart(specifications);
  }

  protected override printTestModule(module: TestModule): void {
    this.#done += 1;
    if (this.#files <= FEW_FILES || module.state() === 'failed') super.printTestModule(module);
    else if (this.#done % 100 === 0) this.log(`${this.#done} of ${this.#files} test files`);
  }

  override onTestRunEnd(...given: Parameters<DefaultReporter['onTestRunEnd']>): void {
    super.onTestRunEnd(...given);
    const [modules, errors] = given;
    if (this.#files > FEW_FILES)
      this.#printSlowest(modules.flatMap(({ children }) => [...children.allTests()]));
    const file = process.env['DBVITALS_TEST_FAILED'];
    if (file === undefined) return;
    const failed = errors.length > 0 ? [] : modules.filter((module) => module.state() === 'failed');
    writeFileSync(file, JSON.stringify([...new Set(failed.map(({ relativeModuleId }) => relativeModuleId))]));
  }

  #printSlowest(tests: TestCase[]): void {
    const timed = tests.map((test) => ({ name: nameTest(test), ms: test.diagnostic()?.duration ?? 0 }));
    this.log(`The slowest ${SLOWEST} of ${tests.length} tests:`);
    for (const { name, ms } of timed.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST))
      this.log(`${(ms / 1_000).toFixed(1).padStart(6)} s  ${name}`);
  }
}

function nameTest(test: TestCase): string {
  return `${test.module.relativeModuleId} > ${test.fullName}`;
}
