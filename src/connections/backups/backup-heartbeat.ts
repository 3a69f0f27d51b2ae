import type pg from 'pg';
import type { Change, ChangeAccount } from '../../activity/record-entry.ts';
import { notFound } from '../../platform/rejection.ts';
import { hashToken, newToken } from '../../platform/token.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import { readConnection } from '../connection-row.ts';
import { storeReports } from './store-reports.ts';

const listed = `
  select name from connection where account_id = $1 and connection_id = $2 and removed_at is null for update`;

const replace = `
  insert into backup_heartbeat (account_id, connection_id, token_hash, created_at)
  values ($1, $2, $3, $4)
  on conflict (account_id, connection_id) do update
     set token_hash = excluded.token_hash, created_at = excluded.created_at, started_at = null, called_at = null`;

const revoke = 'delete from backup_heartbeat where account_id = $1 and connection_id = $2';

/**
 * Gives a connection's heartbeat a new token, and returns it; only its hash is stored. A token from before ends at once.
 * Throws `notFound`.
 */
export async function renewHeartbeat(change: ChangeAccount, connectionId: number): Promise<string> {
  return change(async ({ accountId, client, at, record }) => {
    const ids = [accountId, connectionId];
    const { rows } = await client.query<{ name: string }>(listed, ids);
    const [connection] = rows;
    if (!connection) throw notFound('connection', connectionId);
    const { rowCount: ended } = await client.query(revoke, ids);
    const token = newToken();
    await client.query(replace, [...ids, hashToken(token), at]);
    record('backup_heartbeat_renewed', PAGE_LINKS.connection(connectionId), {
      connection_id: connectionId,
      name: connection.name,
      replaced: ended === 1,
    });
    return token;
  });
}

/** Ends a connection's heartbeat. Throws `notFound` if it has none. */
export async function revokeHeartbeat(change: ChangeAccount, connectionId: number): Promise<void> {
  return change(async ({ accountId, client, record }) => {
    const { rowCount } = await client.query(revoke, [accountId, connectionId]);
    if (rowCount === 0) throw notFound('heartbeat of connection', connectionId);
    const { name } = await readConnection(client, accountId, connectionId);
    record('backup_heartbeat_revoked', PAGE_LINKS.connection(connectionId), {
      connection_id: connectionId,
      name,
    });
  });
}

/** What a backup job calls a heartbeat for. */
export interface HeartbeatCall {
  signal: 'started' | 'succeeded' | 'failed';
  /** Null if the job did not say. */
  bytes: number | null;
}

const accountOf = 'select account_id from backup_heartbeat where token_hash = $1';

/** The account of a heartbeat's token, if this store has it. */
export async function findHeartbeatAccount(
  writer: pg.Pool,
  token: string,
): Promise<{ account_id: number }[]> {
  return (await writer.query<{ account_id: number }>(accountOf, [hashToken(token)])).rows;
}

// Changes of an account are one after the other, so two calls at once are two reports, or one and its repetition.
const call = `
  update backup_heartbeat h
     set called_at = $3, started_at = case when $4 then $3::timestamptz end
    from backup_heartbeat before
   where h.account_id = $1 and h.token_hash = $2
     and before.account_id = h.account_id and before.connection_id = h.connection_id
  returning h.connection_id, before.started_at`;

// A job that got no answer calls again. Only the first of such calls counts, or a lost size would look like an equal one.
const repeated = `
  select from backup_report
   where account_id = $1 and connection_id = $2 and source = 'heartbeat'
     and at > $3::timestamptz - interval '1 minute' and at <= $3
     and succeeded = $4 and bytes is not distinct from $5`;

/** Records a call of a heartbeat. Returns false if its token is not, or no longer, known. */
export async function callHeartbeat(
  change: Change,
  token: string,
  { signal, bytes }: HeartbeatCall,
): Promise<boolean> {
  const { accountId, client, at } = change;
  const { rows } = await client.query<{ connection_id: number; started_at: Date | null }>(call, [
    ...[accountId, hashToken(token), at, signal === 'started'],
  ]);
  const [heartbeat] = rows;
  if (!heartbeat) return false;
  if (signal === 'started') return true;
  const { connection_id: connectionId, started_at: startedAt } = heartbeat;
  const succeeded = signal === 'succeeded';
  const { rowCount } = await client.query(repeated, [accountId, connectionId, at, succeeded, bytes]);
  if (rowCount === 0)
    await storeReports(change, connectionId, 'heartbeat', [{ at, label: '', succeeded, startedAt, bytes }]);
  return true;
}
