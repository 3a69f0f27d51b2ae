import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Config } from '../../config/config.ts';
import { secretKeys } from '../../config/secret-key.ts';
import type { SecretKeys } from '../../platform/encryption.ts';
import { type CheckedBackup, checkBackup } from '../../store/backup/check-backup.ts';
import { openBackup } from '../../store/backup/open-backup.ts';
import { transferProgress } from './transfer-progress.ts';

/** Reads a backup to its end. Unless `unsigned`, it must be signed with DBVITALS_SECRET_KEY. Throws a sentence. */
export async function verifyBackup(
  config: Config,
  file: string | Readable,
  { unsigned }: { unsigned: boolean },
): Promise<CheckedBackup> {
  const keys = unsigned ? null : existingKeys(config);
  if (keys?.length === 0)
    throw new Error(
      `There is no secret key to check the signature with: set DBVITALS_SECRET_KEY, or DBVITALS_DATA_DIR to the folder of secret.key, or use --unsigned.`,
    );
  const backup = await openBackup(file);
  const progress = transferProgress();
  return checkBackup(
    backup.read((bytes, total) => progress.step('checking', bytes, total)),
    keys,
  ).finally(() => {
    progress.end();
    return backup.close();
  });
}

/** The keys of DBVITALS_SECRET_KEY; none if there is no key yet, because a new one has signed nothing. */
export function existingKeys(config: Config): SecretKeys | readonly [] {
  if (config.givenSecret === null && !existsSync(join(config.dataDir, 'secret.key'))) return [];
  return secretKeys(config);
}
