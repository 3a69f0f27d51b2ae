import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leaks } from './secret-scan.ts';

/** Records the output of all our processes, and fails the run at its end if the output contains a secret. */
export default function setup(): () => void {
  if (process.env['DBVITALS_TEST_OUTPUT'] === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'dbvitals-output-'));
    process.env['DBVITALS_TEST_OUTPUT'] = made;
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
  }
  const folder = process.env['DBVITALS_TEST_OUTPUT'];
  return () => failOn(leaks(folder));
}

/** Vitest reports an error after the tests but still exits with 0, so this also sets the exit code. */
export function failOn(found: string[]): void {
  if (found.length === 0) return;
  process.exitCode = 1;
  throw new Error(`Secrets were found:\n${found.join('\n')}`);
}
