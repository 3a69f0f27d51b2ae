import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { buildVersion } from '../../config/build-version.ts';
import type { Config } from '../../config/config.ts';
import { secretKeys } from '../../config/secret-key.ts';
import { parseStoreUrl, type StoreAddress } from '../../config/store-url.ts';
import { backUp, type MadeBackup } from '../../store/backup/backup.ts';
import { type BackupInFolder, backUpIntoFolder } from '../../store/backup/backup-folder.ts';
import { recordBackup } from '../../store/backup/last-backup.ts';
import { openPool } from '../../store/connect.ts';
import { otherCell } from '../../store/directory/claim-cell.ts';
import { inPlace } from '../../store/directory/name-place.ts';
import { joinPlace, placeOf, storeNumbers } from '../../store/directory/open-cells.ts';
import { unnamedCells } from '../../store/directory/require-named-cells.ts';
import type { Say } from '../../store/embedded.ts';
import { findCellOf } from '../../store/open.ts';
import { Interrupted, interruptible } from './interrupt.ts';
import { transferProgress } from './transfer-progress.ts';

/** Where a backup is written: a file or stream, or a new file in a folder that keeps the newest `keep`. */
export type BackupTarget =
  | { target: string | Writable; overwrite: boolean }
  | { folder: string; keep: number };

/** Backs up the store of `cellId`, null = the only one, and records the result in it. Throws sentences. */
export async function backUpStore(
  config: Config,
  cellId: number | null,
  to: BackupTarget,
  say: Say,
): Promise<WrittenBackup> {
  const { dataDir, givenSecret, secretFile } = config;
  const place = placeOf(config, cellId);
  const shown = transferProgress();
  const progress = (bytes: number) => shown.step('backup', bytes, null);
  const work = async (signal: AbortSignal) => {
    const store = await joinPlace(place, say, 'refuse');
    try {
      const [secretKey] = secretKeys(config); // made only where there is a store
      await requirePlace(store.address, place.cellId);
      const write = (target: string | Writable, overwrite: boolean) =>
        backUp(store.address, target, buildVersion(), secretKey, { overwrite, signal, progress });
      const writeTo = () =>
        'folder' in to
          ? backUpIntoFolder(store.address, to.folder, { keep: to.keep, secretKey, signal }, (file) =>
              write(file, false),
            )
          : write(to.target, to.overwrite);
      const made = await recordBackup(store.address, writeTo, unrecorded);
      const secret_at = secretFile ?? (givenSecret ? 'DBVITALS_SECRET_KEY' : join(dataDir, 'secret.key'));
      return { ...made, store: store.description, secret_at };
    } finally {
      shown.end();
      await store.close();
    }
  };
  return interruptible('The backup was interrupted, and left no file.', (signal) =>
    inPlace(place, () => work(signal)),
  );
}

/** The backups of several stores, and a sentence about each store that could not be backed up. */
export interface EachBackup {
  made: WrittenBackup[];
  failed: string[];
}

/** {@link backUpStore} of every store of the settings. One that fails does not keep the others from being backed up. */
export async function backUpEachStore(config: Config, to: BackupTarget, say: Say): Promise<EachBackup> {
  const backups: EachBackup = { made: [], failed: [] };
  for (const number of storeNumbers(config)) {
    try {
      backups.made.push(await backUpStore(config, number, to, say));
    } catch (error) {
      if (!(error instanceof Error) || error instanceof Interrupted) throw error;
      backups.failed.push(error.message);
    }
  }
  backups.failed.push(...(await findUnnamed(config)));
  return backups;
}

/** A sentence about each cell that the settings lack. A control store that does not answer was reported before. */
async function findUnnamed(config: Config): Promise<string[]> {
  const numbers = storeNumbers(config).filter((number) => number !== null);
  const [control] = numbers;
  if (control === undefined) return [];
  const pool = openPool(parseStoreUrl(placeOf(config, control).databaseUrl ?? ''), 'owner', { max: 1 });
  return unnamedCells(pool, numbers)
    .catch(() => [])
    .finally(() => pool.end());
}

/** Throws a sentence if the store is another cell than the settings say. */
async function requirePlace(address: StoreAddress, cellId: number | null): Promise<void> {
  if (cellId === null) return;
  const pool = openPool(address, 'owner', { max: 1 });
  const found = await findCellOf(pool).finally(() => pool.end());
  if (found !== null && found !== cellId) throw new Error(otherCell(found, cellId));
}

function unrecorded(why: string): void {
  process.stderr.write(
    `The result of the backup could not be recorded in the store, so "dbvitals doctor" does not report it: ${why}\n`,
  );
}

/** A backup that was made, and, in a folder, its path, what was removed and what is dated in the future. */
export type WrittenBackup = StoreBackup & Partial<Pick<BackupInFolder, 'file' | 'removed' | 'ahead'>>;

/** A backup that was made. */
interface StoreBackup extends MadeBackup {
  /** A description of the store. */
  store: string;
  /** The location of the store's secret key. */
  secret_at: string;
}
