import { chmodSync, mkdtempSync, statfsSync } from 'node:fs';

/** What the stores of a run may need, in bytes. A container often has 64 MB there. */
export const ROOM = 6 * 2 ** 30;

/**
 * A new folder in memory for the temporary files of a run, or null without room. Stores that are copied and deleted there take
 * less processor time, because ext4 searches long for inodes that were not deleted lately, and no commit waits for a disk.
 */
export function makeMemoryFolder(room = ROOM): string | null {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    if (Math.min(bavail * bsize, process.availableMemory()) < room) return null;
    const folder = mkdtempSync('/dev/shm/dbvitals-');
    chmodSync(folder, 0o711); // the tests' servers run as another user, who opens sockets below it
    return folder;
  } catch {
    return null; // not on Linux
  }
}
