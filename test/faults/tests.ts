import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Fault, Seen } from './fault.ts';

/** The output of Vitest's JSON reporter. */
interface Report {
  numPassedTests: number;
  numTotalTests: number;
  testResults: { assertionResults: { status: string; title: string }[]; message: string }[];
}

/** A row whose fault is tested by files of the test suite. The whole form runs them again to complete the table. */
export function shownBy(fault: string, figure: string, ...files: string[]): Fault {
  return { fault, figure, provoke: () => runTests(files), isTested: true };
}

/** Runs test files. The result is the number of passed tests and the names of the others. */
export async function runTests(files: string[]): Promise<Seen> {
  const cwd = fileURLToPath(new URL('../..', import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'dbvitals-report-'));
  const file = join(folder, 'report.json');
  try {
    const args = ['run', '--reporter=json', `--outputFile=${file}`, ...files];
    const vitest = spawn('vitest', args, { cwd, stdio: 'ignore' });
    await once(vitest, 'close');
    return judge(JSON.parse(readFileSync(file, 'utf8')), files);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function judge({ numPassedTests: passed, numTotalTests: total, testResults }: Report, files: string[]): Seen {
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = all.filter(({ status }) => status !== 'passed').map(({ title }) => title);
  const names = failed.length > 0 ? ` (not: ${failed.join(', ')})` : '';
  return new Seen()
    .atLeast(testResults.length, files.length, 'test files')
    .none(testResults.filter(({ message }) => message !== '').length, 'that could not be run')
    .atLeast(passed, Math.max(total, 1), `of ${total} tests passed${names}`);
}
