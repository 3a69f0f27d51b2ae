import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Whether the data folder holds an embedded store, running or not. Throws a sentence where this user may not look. */
export function holdsStore(dataFolder: string): boolean {
  try {
    return statSync(join(dataFolder, 'postgres')).isDirectory();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw new Error(
      `The data folder ${resolve(dataFolder)} can't be read (${code}): run this as the user who runs the service.`,
      { cause: error },
    );
  }
}

/** Makes the data folder where it is not there yet. Throws a sentence where that, or writing to it, is not possible. */
export function makeDataFolder(dataFolder: string): void {
  try {
    const refused = whyUnwritable(dataFolder);
    if (refused !== null) throw new UnwritableFolder(dataFolder, refused);
    // With a user of its own (as root) the server must get through to its folder.
    mkdirSync(dataFolder, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  } catch (error) {
    if (error instanceof UnwritableFolder) throw error;
    throw new UnwritableFolder(dataFolder, codeOf(error));
  }
}

/** Why this user can't write to a folder, such as EROFS; of one that is not there, to the nearest above it. Null = it can be written. */
export function whyUnwritable(folder: string): string | null {
  let there = resolve(folder);
  while (!existsSync(there)) there = dirname(there);
  try {
    accessSync(there, constants.W_OK | constants.X_OK);
    return statSync(there).isDirectory() ? null : 'ENOTDIR';
  } catch (error) {
    return codeOf(error);
  }
}

class UnwritableFolder extends Error {
  constructor(folder: string, code: string) {
    super(
      `The data folder ${resolve(folder)} can't be written (${code}): set DBVITALS_DATA_DIR to a folder that this user may write, or DATABASE_URL to a PostgreSQL of your own.`,
    );
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
