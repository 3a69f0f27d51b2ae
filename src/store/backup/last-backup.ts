import type pg from 'pg';
import type { StoreAddress } from '../../config/store-url.ts';
import { openPool } from '../connect.ts';
import { NothingToBackUp } from './backup.ts';

/** The last successful and the last failed backup of a store; null = none. */
export interface LastBackup {
  succeeded_at: Date | null;
  /** The size of the last successful backup. */
  bytes: number | null;
  failed_at: Date | null;
  failure: string | null;
}

const select = 'select succeeded_at, bytes::float8 as bytes, failed_at, failure from last_backup';
// The last one is the later one, also if the clock was ahead at the one before.
const success = `
  insert into last_backup (succeeded_at, bytes) values (clock_timestamp(), $1)
  on conflict (only_row) do update
    set succeeded_at = excluded.succeeded_at, bytes = excluded.bytes,
        failed_at = least(last_backup.failed_at, excluded.succeeded_at - interval '1 ms')`;
const failure = `
  insert into last_backup (failed_at, failure) values (clock_timestamp(), $1)
  on conflict (only_row) do update
    set failed_at = excluded.failed_at, failure = excluded.failure,
        succeeded_at = least(last_backup.succeeded_at, excluded.failed_at - interval '1 ms')`;

const NONE: LastBackup = { succeeded_at: null, bytes: null, failed_at: null, failure: null };

/** Reads how the last backups went. Every role except the reader may do this. */
export async function readLastBackup(pool: pg.Pool): Promise<LastBackup> {
  const { rows } = await pool.query<LastBackup>(select);
  return rows[0] ?? NONE;
}

/** The times of the last backups for metrics, in Unix seconds; 0 = never. */
export async function backupTimes(pool: pg.Pool): Promise<{ backupSucceeded: number; backupFailed: number }> {
  const { succeeded_at, failed_at } = await readLastBackup(pool);
  const seconds = (at: Date | null) => (at === null ? 0 : at.getTime() / 1_000);
  return { backupSucceeded: seconds(succeeded_at), backupFailed: seconds(failed_at) };
}

/** Whether the last backup failed. */
export function hasFailed({ succeeded_at: succeeded, failed_at: failed }: LastBackup): boolean {
  return failed !== null && (succeeded === null || failed > succeeded);
}

/**
 * Runs `backUp` and records the result in the store, for the metrics and the doctor. If the store is not writable, such as a
 * standby, passes the reason to `unrecorded`. Throws what `backUp` throws.
 */
export async function recordBackup<T extends { bytes: number }>(
  address: StoreAddress,
  backUp: () => Promise<T>,
  unrecorded: (why: string) => void,
): Promise<T> {
  const record = async (statement: string, value: unknown) => {
    const pool = openPool(address, 'owner', { max: 1 });
    await pool
      .query(statement, [value])
      .catch((error: unknown) => unrecorded(isOlderSchema(error) ? OLDER_SCHEMA : sentence(error)))
      .finally(() => pool.end());
  };
  try {
    const made = await backUp();
    await record(success, made.bytes);
    return made;
  } catch (error) {
    if (!(error instanceof NothingToBackUp)) await record(failure, sentence(error));
    throw error;
  }
}

const OLDER_SCHEMA = 'the schema is older than this record. "dbvitals migrate" adds it.';

function isOlderSchema(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '42P01'; // undefined_table
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
