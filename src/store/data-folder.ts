import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Whether the data folder contains an embedded store, running or not. Throws a sentence if this user can't read it. */
export function holdsStore(dataFolder: string): boolean {
  try {
    return statSync(join(dataFolder, 'postgres')).isDirectory();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw new Error(
      `The data folder ${resolve(dataFolder)} can't be read (${code}): run this as the user that runs the service.`,
      { cause: error },
    );
  }
}

/** Creates the data folder if it does not exist. Throws a sentence if it can't be created or is not writable. */
export function makeDataFolder(dataFolder: string): void {
  try {
    const refused = whyUnwritable(dataFolder);
    if (refused !== null) throw new UnwritableFolder(dataFolder, refused);
    // If dbvitals runs as root, the server runs as another user, who must be able to enter the folder.
    mkdirSync(dataFolder, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  } catch (error) {
    if (error instanceof UnwritableFolder) throw error;
    throw new UnwritableFolder(dataFolder, codeOf(error));
  }
}

/** Why this user can't write to a folder, or to its nearest existing parent, such as EROFS. Null = it is writable. */
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
      `The data folder ${resolve(folder)} is not writable (${code}): set DBVITALS_DATA_DIR to a folder that this user can write to, or DATABASE_URL to your own PostgreSQL.`,
    );
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
