import type pg from 'pg';
import { hasFailed, readLastBackup } from '../database/backup/last-backup.ts';
import type { Diagnosis } from './diagnosis.ts';

// A nightly backup is at most 24 hours old. At this age a backup was missed.
const OLD_HOURS = 36;

const NIGHTLY = 'Run "dbvitals backup --folder DIR" every night: see docs/operate/backup.md.';

/** Checks how the last "dbvitals backup" of the store went and how old it is. The writer's role is enough. */
export async function checkBackups(pool: pg.Pool): Promise<Diagnosis> {
  const about = 'backup';
  const last = await readLastBackup(pool);
  if (hasFailed(last)) {
    return {
      about,
      status: 'error',
      message: `The last backup failed at ${last.failed_at?.toISOString()}: ${last.failure}`,
      remedy: 'Fix the cause, then run the backup again. With systemd: "systemctl start dbvitals-backup".',
    };
  }
  const { succeeded_at: at } = last;
  if (at === null) {
    const message = '"dbvitals backup" has never backed up this store.';
    return { about, status: 'warning', message, remedy: NIGHTLY };
  }
  const hours = Math.round((Date.now() - at.getTime()) / 3_600_000);
  const message = `The last backup was made at ${at.toISOString()}, ${hours} h ago.`;
  if (hours < OLD_HOURS) return { about, status: 'ok', message, remedy: null };
  return { about, status: 'warning', message, remedy: NIGHTLY };
}
