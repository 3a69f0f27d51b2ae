import { existsSync, mkdirSync, statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Keeps compiled code in the user's cache folder, so that a command starts in half the time. Whoever can write there can run
 * code as this user, so a folder of somebody else, such as that of the user who called sudo, is not used. Without a folder,
 * each start compiles. `NODE_COMPILE_CACHE` names another folder.
 */
export function keepCompiledCode(environment = process.env): void {
  if (environment['NODE_COMPILE_CACHE']) return;
  try {
    const caches = environment['XDG_CACHE_HOME'] || join(homedir(), '.cache');
    const folder = join(caches, 'dbvitals');
    makeFolder(caches);
    makeFolder(folder);
    if (statSync(folder).uid === process.getuid?.()) enableCompileCache(folder);
  } catch {} // no home, or one that can't be written to
}

/** Not with what is above it: a home that does not exist is not made. */
function makeFolder(folder: string): void {
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
}
