import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { MadeBackup } from './backup.ts';
import { checkBackup } from './check-backup.ts';

// The names of this command's files. It never touches other files in the folder.
const OURS = /^dbvitals-\d{8}T\d{6}Z\.backup$/;
// The drafts that killed backups have left.
const DRAFT = /^dbvitals-\d{8}T\d{6}Z\.backup\.\d+\.part$/;
const DRAFT_IS_OLD_MS = 86_400_000;

/** A backup in a folder: its path, and the names of the older backups that were removed. */
export interface BackupInFolder extends MadeBackup {
  file: string;
  removed: string[];
}

/**
 * Calls `backUp` to write a new file into the folder, which is created if missing. Reads the file back, checks its signature,
 * then removes all but the newest `keep` backups. If it throws, no backup was removed and no incomplete file is left.
 */
export async function backUpIntoFolder(
  folder: string,
  keep: number,
  secretKey: Buffer,
  backUp: (file: string) => Promise<MadeBackup>,
): Promise<BackupInFolder> {
  await makeFolder(folder);
  const file = join(folder, nameAt(new Date()));
  const made = await backUp(file);
  try {
    await checkBackup(file, secretKey);
  } catch (error) {
    await rm(file);
    throw error;
  }
  return { file, ...made, removed: await prune(folder, keep) };
}

/** The name of a new file, such as `dbvitals-20261122T021700Z.backup`. Names sort by time. */
function nameAt(now: Date): string {
  return `dbvitals-${now.toISOString().replace(/[-:]|\.\d+/g, '')}.backup`;
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    throw new Error(
      `The folder ${folder} can't be created${code}: as root, run "install --directory --mode 700 --owner USER ${folder}".`,
      { cause: error },
    );
  }
}

/** Removes all but the newest backups, and drafts older than a day. Returns the names of the removed backups. */
async function prune(folder: string, keep: number): Promise<string[]> {
  const names = await readdir(folder);
  const old = names
    .filter((name) => OURS.test(name))
    .toSorted()
    .slice(0, -keep);
  for (const name of old) await rm(join(folder, name));
  for (const name of names.filter((name) => DRAFT.test(name))) {
    const { mtimeMs } = await stat(join(folder, name));
    if (Date.now() - mtimeMs > DRAFT_IS_OLD_MS) await rm(join(folder, name));
  }
  return old;
}
