import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseCLI } from 'vitest/node';

/** With more files than these, a fault failed them, and not the moment. */
const MOST_FILES = 3;

/**
 * Runs Vitest with these arguments. If tests of at most three files fail, runs these files once more with new servers, because
 * a test that failed half-way leaves what the next attempt trips over. The output names them (test/FLAKY.md). A test that
 * fails twice fails the run. So does an error outside of a test, and a secret that either attempt printed.
 *
 * @returns the exit code
 */
export async function runTests(
  args: readonly string[],
  { cwd = process.cwd(), env = process.env }: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'dbvitals-tests-'));
  const failedFiles = join(folder, 'failed.json');
  const environment = {
    ...env,
    DBVITALS_TEST_FAILED: failedFiles,
    DBVITALS_TEST_OUTPUT: mkdtempSync(join(folder, 'output-')), // both attempts are searched for secrets
  };
  try {
    const code = await runVitest(args, cwd, environment);
    const failed = code === 1 ? readFailed(failedFiles) : [];
    if (failed.length === 0 || failed.length > MOST_FILES) return code;
    console.log(`\nSecond attempt, with new servers: ${failed.join(', ')}\n`);
    const { filter } = parseCLI(['vitest', 'run', ...args]);
    const second = await runVitest(
      [...args.filter((argument) => !filter.includes(argument)), ...failed],
      cwd,
      environment,
    );
    const result = second === 0 ? 'Passed only at the second attempt' : 'Failed twice';
    console.log(`${result}: ${failed.join(', ')}. Find the cause, or list it in test/FLAKY.md.`);
    return second;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runVitest(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<number> {
  const vitest = spawn('vitest', ['run', ...args], { cwd, env, stdio: 'inherit' });
  // Ending this run ends the tests, and the servers stop in their usual way.
  const end = (signal: NodeJS.Signals) => vitest.kill(signal);
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, end);
  const [code] = await once(vitest, 'close');
  for (const signal of signals) process.off(signal, end);
  return code ?? 130;
}

/** The files whose tests failed, relative to the root. Empty where something else failed too, or before any test. */
function readFailed(file: string): string[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return [];
  }
}

if (import.meta.main) process.exitCode = await runTests(process.argv.slice(2));
