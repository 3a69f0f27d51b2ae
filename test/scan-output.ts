import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leaks } from './secret-scan.ts';

/** Keeps what every process of ours prints during the run, and fails the run at its end when a secret is in it. */
export default function setup(): () => void {
  if (process.env['DBVITALS_TEST_OUTPUT'] === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'dbvitals-output-'));
    process.env['DBVITALS_TEST_OUTPUT'] = made;
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
  }
  const folder = process.env['DBVITALS_TEST_OUTPUT'];
  return () => failOn(leaks(folder));
}

/** Vitest tells of an error after the tests, and ends well all the same: so the exit code is set too. */
export function failOn(found: string[]): void {
  if (found.length === 0) return;
  process.exitCode = 1;
  throw new Error(`Secrets were found:\n${found.join('\n')}`);
}
