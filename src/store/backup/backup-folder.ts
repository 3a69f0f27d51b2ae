import { createReadStream } from 'node:fs';
import { mkdir, readdir, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoreAddress } from '../../config/store-url.ts';
import type { MadeBackup } from './backup.ts';
import { type BackedUpStore, withBackupLock } from './backup-lock.ts';
import { checkBackup } from './check-backup.ts';

// The drafts that killed backups have left.
const DRAFT = /^dbvitals-[\w-]*\.backup\.\w+\.part$/;
const DRAFT_IS_OLD_MS = 86_400_000;

/** A backup in a folder: its path, and the names of the older backups that were removed, and of those left that are dated in the future. */
export interface BackupInFolder extends MadeBackup {
  file: string;
  removed: string[];
  ahead: string[];
}

// The clocks of two machines that share a folder differ a little.
const CLOCKS_DIFFER_MS = 300_000;

/** How many backups of a store a folder keeps, and the key that signs them. */
interface FolderOptions {
  keep: number;
  secretKey: Buffer;
  signal?: AbortSignal | undefined;
}

/**
 * Calls `backUp` to write a new file into the folder, which is created if missing. Reads the file back, checks its signature,
 * then removes all but the newest `keep` backups of the store at `address`, those dated in the future before others; several stores
 * may share a folder. If it throws before that, no backup was removed and no incomplete file is left.
 */
export async function backUpIntoFolder(
  address: StoreAddress,
  folder: string,
  { keep, secretKey, signal }: FolderOptions,
  backUp: (file: string) => Promise<MadeBackup>,
): Promise<BackupInFolder> {
  await makeFolder(folder);
  return withBackupLock(address, signal, async (store) => {
    const name = nameAt(store, new Date());
    const file = join(folder, name);
    const made = await backUp(file);
    try {
      await checkBackup(createReadStream(file, { signal }), [secretKey]);
    } catch (error) {
      await rm(file);
      signal?.throwIfAborted();
      throw new Error(`The backup in ${file} differs from what was written: check the disk.`, {
        cause: error,
      });
    }
    return { file, ...made, ...(await prune(folder, store, name, keep)) };
  });
}

/**
 * The name of a new file, such as `dbvitals-cell-2-9f86d081884c7d65-20261122T021700123Z.backup`: the store, then the time. One
 * backup of a store at a time has the lock, so no two have the same name.
 */
function nameAt({ id, cell }: BackedUpStore, now: Date): string {
  const which = cell === null ? '' : cell === 0 ? 'control-' : `cell-${cell}-`;
  return `dbvitals-${which}${id}-${timeInName(now)}.backup`;
}

const timeInName = (at: Date) => at.toISOString().replace(/[-:.]/g, '');

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') throw new Error(`${folder} is a file: name a folder.`, { cause: error });
    throw new Error(
      `The folder ${folder} can't be created (${code}): as root, run "install --directory --mode 700 --owner USER ${folder}".`,
      { cause: error },
    );
  }
}

/**
 * Removes all but the newest backups of a store, and drafts older than a day. Never removes `made`, even if the clock was set
 * back. Returns the names of the removed backups, and of those left that are dated in the future.
 */
async function prune(
  folder: string,
  { id }: BackedUpStore,
  made: string,
  keep: number,
): Promise<{ removed: string[]; ahead: string[] }> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  // A store that has become a cell keeps its id.
  const form = new RegExp(`^dbvitals-(?:cell-\\d+-|control-)?${id}-(\\d{8}T\\d{9}Z)\\.backup$`);
  const timeOf = (name: string) => form.exec(name)?.[1] ?? '';
  const newest = names
    .filter((name) => form.test(name) && name !== made)
    .toSorted((one, other) => timeOf(other).localeCompare(timeOf(one)));
  const latest = timeInName(new Date(Date.now() + CLOCKS_DIFFER_MS));
  const isAhead = (name: string) => timeOf(name) > latest;
  const others = [...newest.filter((name) => !isAhead(name)), ...newest.filter(isAhead)];
  const kept = others.slice(0, keep - 1);
  const removed = others.slice(keep - 1).toReversed();
  await removeBackups(folder, made, removed);
  await removeDrafts(folder, names);
  return { removed, ahead: kept.filter(isAhead) };
}

async function removeBackups(folder: string, made: string, old: readonly string[]): Promise<void> {
  const failed: unknown[] = [];
  for (const name of old) await unlink(join(folder, name)).catch((error: unknown) => failed.push(error));
  if (failed.length > 0)
    throw new Error(
      `The backup ${join(folder, made)} is complete, but ${failed.length} of ${old.length} older ones can't be removed (${codeOf(failed[0])}): remove them by hand, before the disk is full.`,
      { cause: failed[0] },
    );
}

async function removeDrafts(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names.filter((name) => DRAFT.test(name))) {
    const found = await stat(join(folder, name)).catch(() => null); // another store's backup may have ended
    if (found && Date.now() - found.mtimeMs > DRAFT_IS_OLD_MS) await rm(join(folder, name), { force: true });
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
