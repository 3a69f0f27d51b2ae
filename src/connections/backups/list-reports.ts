import type { Read } from '../../store/read.ts';
import type { BackupSource } from './backup-sources.ts';

/** A reported backup as it is listed. */
export interface BackupRow {
  /** When it ended. */
  at: Date;
  source: BackupSource;
  /** The tool's name for it; '' = it has none. */
  label: string;
  succeeded: boolean;
  /** Null if unknown. */
  started_at: Date | null;
  bytes: number | null;
}

const select = `
  select at, source, label, succeeded, started_at, bytes
    from backup_report
   where account_id = $1 and connection_id = $2
   order by at desc, source, label
   limit $3`;

/** The reported backups of a connection, the newest first. */
export function listReports(
  read: Read,
  accountId: number,
  connectionId: number,
  limit: number,
): Promise<BackupRow[]> {
  return read<BackupRow>(select, [accountId, connectionId, limit]);
}

const selectHeartbeat = `
  select created_at, called_at from backup_heartbeat where account_id = $1 and connection_id = $2`;

/** When a connection's heartbeat got its token, and when it was called last; null = it has none. */
export async function readHeartbeat(
  read: Read,
  accountId: number,
  connectionId: number,
): Promise<{ created_at: Date; called_at: Date | null } | null> {
  const [row] = await read<{ created_at: Date; called_at: Date | null }>(selectHeartbeat, [
    accountId,
    connectionId,
  ]);
  return row ?? null;
}
