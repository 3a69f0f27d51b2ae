import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { BackupReader } from './backup-file.ts';

/** Reads a backup from its file to the end. Throws a sentence where it is cut off or altered. */
export async function checkBackup(path: string): Promise<void> {
  const file = createReadStream(path);
  try {
    const reader = new BackupReader(file);
    await reader.head();
    const found = new Map<string, string>();
    for (;;) {
      const next = await reader.next();
      if ('end' in next) {
        for (const [table, { sha256 }] of Object.entries(next.end.tables)) {
          if (found.get(table) !== sha256) throw new Error(`The rows of ${table} in ${path} are altered.`);
        }
        return;
      }
      const hash = createHash('sha256');
      for await (const rows of reader.rows()) hash.update(rows);
      found.set(next.table, hash.digest('hex'));
    }
  } finally {
    file.destroy();
  }
}
