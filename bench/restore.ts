import { copyFileSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { addAccount, withStore } from './seed.ts';
import { makeDataDir, removeDataDirs, runCommand } from './servers.ts';

/**
 * Measures backup and restore of a log of `--entries N` (1,000,000), including PostgreSQL's start and stop. The log is
 * sealed, so the restore verifies every entry.
 */
const { values } = parseArgs({ options: { entries: { type: 'string', default: '1000000' } } });
const entries = Number(values.entries);

const before = makeDataDir();
const after = makeDataDir();
const file = join(makeDataDir(), 'store.backup');

/** Runs a command and prints how long it took. */
async function timed(dataDir: string, command: string[]): Promise<void> {
  const began = performance.now();
  await runCommand(dataDir, command);
  console.log(`${command[0]}: ${((performance.now() - began) / 1000).toFixed(1)} s`);
}

try {
  const { id } = await withStore(before, (writer) => addAccount(writer, 'restored', 1));
  const size = [
    '--activity',
    `${entries}`,
    '--tickets',
    `${entries / 100}`,
    '--connections',
    '100',
    '--days',
    '90',
  ];
  await timed(before, ['sample-data', '--account', `${id}`, ...size]);
  await timed(before, ['activity', 'seal']);
  await timed(before, ['backup', file]);
  console.log(`${(statSync(file).size / 1e6).toFixed(1)} MB`);
  mkdirSync(after, { recursive: true });
  copyFileSync(join(before, 'secret.key'), join(after, 'secret.key'));
  await timed(after, ['restore', file]);
} finally {
  removeDataDirs();
}
