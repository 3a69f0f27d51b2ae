import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** Runs `npm ci` in a folder of the checkout, once for each version of its lock file. Throws when that fails. */
export function installOnce(folder: string): void {
  const cwd = join(ROOT, folder);
  const written = (name: string) => statSync(join(cwd, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (written('node_modules/.package-lock.json') >= written('package-lock.json')) return;
  const { status } = spawnSync('npm', ['ci', '--silent'], { cwd, stdio: 'inherit' });
  if (status !== 0) throw new Error(`What ${folder} needs could not be installed: run "npm ci" there.`);
}
