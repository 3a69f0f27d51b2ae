import { createReadStream } from 'node:fs';
import { BackupReader } from './backup-file.ts';
import { isSignedBackup } from './backup-signature.ts';

/** Reads a backup file to the end. Throws a sentence if it is incomplete or not signed with the secret key. */
export async function checkBackup(path: string, secretKey: Buffer): Promise<void> {
  const file = createReadStream(path);
  try {
    const reader = new BackupReader(file);
    await reader.head();
    let next = await reader.next();
    while ('table' in next) {
      for await (const _rows of reader.rows());
      next = await reader.next();
    }
    if (!isSignedBackup([secretKey], next.sha256, next.signature ?? ''))
      throw new Error(`The backup in ${path} differs from what was written: check the disk.`);
  } finally {
    file.destroy();
  }
}
