import type pg from 'pg';
import type { Change } from '../../activity/record-entry.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import { readConnection } from '../connection-row.ts';
import type { BackupSource } from './backup-sources.ts';

/** A backup that ended, as its job or its tool reported it. */
export interface BackupReport {
  /** When it ended. */
  at: Date | string;
  /** The tool's name for it; '' = it has none. */
  label: string;
  succeeded: boolean;
  /** Null if unknown. */
  startedAt: Date | null;
  /** Null if unknown. */
  bytes: number | null;
}

/** How many successes of a connection are kept, and how many failures: a flood of one does not push out the other. */
const KEPT = 250;

const insert = `
  insert into backup_report (account_id, connection_id, source, at, label, succeeded, started_at, bytes)
  select $1, $2, $3, * from unnest($4::timestamptz[], $5::text[], $6::boolean[], $7::timestamptz[], $8::bigint[])
  on conflict do nothing`;

const newest = `
  select succeeded, at, bytes, source
    from backup_report
   where account_id = $1 and connection_id = $2
   order by at desc, succeeded
   limit 1`;

const prune = `
  delete from backup_report r
   using (select succeeded, at,
                 row_number() over (partition by succeeded order by at desc) as place
            from backup_report where account_id = $1 and connection_id = $2) kept
   where r.account_id = $1 and r.connection_id = $2
     and kept.place = ${KEPT} and r.succeeded = kept.succeeded and r.at < kept.at`;

interface Newest {
  succeeded: boolean;
  at: Date;
  bytes: number | null;
  source: BackupSource;
}

/**
 * Stores reports of a connection's backups, except those that are stored already, and returns how many were new. The log
 * gets an entry when the newest one ended otherwise than the one before.
 */
export async function storeReports(
  { accountId, client, record }: Change,
  connectionId: number,
  source: BackupSource,
  reports: readonly BackupReport[],
): Promise<number> {
  const ids = [accountId, connectionId];
  const before = await readNewest(client, ids);
  const { rowCount } = await client.query(insert, [
    ...[...ids, source],
    reports.map(({ at }) => at),
    reports.map(({ label }) => label),
    reports.map(({ succeeded }) => succeeded),
    reports.map(({ startedAt }) => startedAt),
    reports.map(({ bytes }) => bytes),
  ]);
  if (!rowCount) return 0;
  await client.query(prune, ids);
  const after = await readNewest(client, ids);
  if (after && after.succeeded !== before?.succeeded) {
    const { name } = await readConnection(client, accountId, connectionId);
    const { succeeded, at, bytes, source: of } = after;
    record(succeeded ? 'backup_succeeded' : 'backup_failed', PAGE_LINKS.connection(connectionId), {
      connection_id: connectionId,
      name,
      source: of,
      at,
      bytes,
    });
  }
  return rowCount;
}

async function readNewest(client: pg.ClientBase, ids: readonly number[]): Promise<Newest | undefined> {
  return (await client.query<Newest>(newest, [...ids])).rows[0];
}

const forget = ['backup_heartbeat', 'backup_report'].map(
  (table) => `delete from ${table} where account_id = $1 and connection_id = $2`,
);

/** Deletes what is known of a connection's backups, and its heartbeat. */
export async function forgetBackups(
  client: pg.ClientBase,
  accountId: number,
  connectionId: number,
): Promise<void> {
  for (const statement of forget) await client.query(statement, [accountId, connectionId]);
}
