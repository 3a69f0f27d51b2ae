import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { blocks } from './page.ts';

const ROOT = join(import.meta.dirname, '../..');

/**
 * Makes the package in a folder as docs/operate/install.md says, and gives the file's name. Stages of one run share the file
 * through `DBVITALS_TEST_PACKAGE`: npm pack rewrites package.json and dist/ for a while, so it must not run twice at a time.
 */
export function pack(folder: string): string {
  const shared = process.env['DBVITALS_TEST_PACKAGE'] ?? folder;
  const [block = ''] = blocks('### Make the file', 1);
  execFileSync('flock', [ROOT, 'sh', '-ec', `ls "$0"/*.tgz 2>/dev/null || { ${block} }`, shared], {
    cwd: ROOT,
    env: { ...process.env, npm_config_pack_destination: shared },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [file = ''] = globSync(join(shared, '*.tgz'));
  if (shared !== folder) copyFileSync(file, join(folder, basename(file)));
  return basename(file);
}
