import type pg from 'pg';
import { hasFailed, readLastBackup } from '../../store/backup/last-backup.ts';
import type { Diagnosis } from './diagnosis.ts';

// A nightly backup is at most 24 hours old. At this age a backup was missed.
const OLD_HOURS = 36;

const NIGHTLY = 'Run "dbvitals backup --folder DIR" every night: see docs/operate/backup.md.';

// When the store began to record its backups: when it was created, restored, or upgraded.
const selectBegin = `select to_char(run_on, 'YYYY-MM-DD HH24:MI') as at from migration where name = '0013_last_backup'`;

/** Checks how the last "dbvitals backup" of the store went and how old it is. `pool` acts as the store's owner. */
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
    const { rows } = await pool.query<{ at: string }>(selectBegin);
    const message = `"dbvitals backup" has not backed up this store since it was set up, restored or upgraded on ${rows[0]?.at} UTC.`;
    return { about, status: 'warning', message, remedy: NIGHTLY };
  }
  const hours = Math.round((Date.now() - at.getTime()) / 3_600_000);
  const message = `The last backup was made at ${at.toISOString()}, ${hours} h ago.`;
  if (hours < OLD_HOURS) return { about, status: 'ok', message, remedy: null };
  return { about, status: 'warning', message, remedy: NIGHTLY };
}
