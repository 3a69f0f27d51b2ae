import type pg from 'pg';
import { hasFailed, readLastBackup } from '../database/backup/last-backup.ts';
import type { Diagnosis } from './diagnosis.ts';

// A nightly backup is 24 hours old at most: one that is older than this was missed.
const OLD_HOURS = 36;

const NIGHTLY = 'Back up every night, as docs/operate/backup.md says: "dbvitals backup --folder DIR".';

/** Whether the store is backed up, as far as "dbvitals backup" has recorded; the writer's role may ask. */
export async function checkBackups(pool: pg.Pool): Promise<Diagnosis> {
  const about = 'backup';
  const last = await readLastBackup(pool);
  if (hasFailed(last)) {
    return {
      about,
      status: 'error',
      message: `The last backup failed at ${last.failed_at?.toISOString()}: ${last.failure}`,
      remedy: 'Mend that, then run the backup again: under systemd "systemctl start dbvitals-backup".',
    };
  }
  const { succeeded_at: at } = last;
  if (at === null) {
    const message = 'No backup of this store has been made by "dbvitals backup".';
    return { about, status: 'warning', message, remedy: NIGHTLY };
  }
  const hours = Math.round((Date.now() - at.getTime()) / 3_600_000);
  const message = `The last backup was made at ${at.toISOString()}, ${hours} h ago.`;
  if (hours < OLD_HOURS) return { about, status: 'ok', message, remedy: null };
  return { about, status: 'warning', message, remedy: NIGHTLY };
}
