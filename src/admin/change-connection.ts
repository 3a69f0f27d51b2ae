import type pg from 'pg';
import { changeAccount } from '../activity/record-entry.ts';
import { resolveTicketsOf } from '../ops/record-findings.ts';
import { type CommandContext, UsageError } from './command.ts';
import { type ConnectionRow, noConnection, ownerOfConnection, readConnection } from './connection-row.ts';
import type { DatabaseAddress } from './connection-url.ts';

/** How a connection is encrypted; a Unix socket never is. */
export type Tls = 'verify-full' | 'require' | 'disable';

const insert = `
  with added as (
    insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, created_at)
    values ($1, $2, 'postgres', $3, $4, $5, $6, $7, $8, $9)
    returning account_id, connection_id
  )
  insert into connection_schedule (account_id, connection_id, every, due_at)
  select account_id, connection_id, make_interval(secs => $10), $9 from added
  returning connection_id as id`;

const storeCredential = `
  update connection set credential = $3
   where account_id = $1 and connection_id = $2`;

/** Adds a connection that is due at once every `every` seconds. The database is not contacted. */
export function addConnection(
  writer: pg.Pool,
  { sealPassword }: Pick<CommandContext, 'sealPassword'>,
  accountId: number,
  wanted: DatabaseAddress & { name: string; tls: Tls; every: number },
): Promise<ConnectionRow> {
  return changeAccount(writer, accountId, async ({ client, at, record }) => {
    const { name, connection_type, host, port, database, username, tls, every, password } = wanted;
    const values = [accountId, name, connection_type, host, port, database, username, tls, at, every];
    const { rows } = await client.query<{ id: number }>(insert, values);
    const connectionId = rows[0]?.id ?? 0;
    if (password !== null) {
      const sealed = await sealPassword(client, { accountId, connectionId }, password);
      await client.query(storeCredential, [accountId, connectionId, sealed]);
    }
    record('connection_added', pageOf(connectionId), {
      connection_id: connectionId,
      name,
      host,
      port,
      connection_type,
    });
    return readConnection(client, accountId, connectionId);
  });
}

/** What of a connection is to change; what is absent stays. */
export interface ConnectionChanges {
  name?: string;
  address?: DatabaseAddress;
  password?: string;
  tls?: Tls;
  every?: number;
}

const lock = `
  select connection_type, tls from connection
   where account_id = $1 and connection_id = $2 and removed_at is null
     for update`;

const change = `
  update connection
     set name            = coalesce($3, name),
         connection_type = coalesce($4, connection_type),
         host            = coalesce($5, host),
         port            = coalesce($6, port),
         database        = coalesce($7, database),
         username        = coalesce($8, username),
         tls             = $9,
         credential      = coalesce($10, credential)
   where account_id = $1 and connection_id = $2`;

// What was changed about the way there is tried at once.
const reschedule = `
  update connection_schedule
     set every  = coalesce(make_interval(secs => $3), every),
         due_at = case when $4 then clock_timestamp()
                       else least(due_at, clock_timestamp() + make_interval(secs => $3)) end
   where account_id = $1 and connection_id = $2`;

/** Changes a connection. A new URL without a password keeps the stored one. */
export async function changeConnection(
  writer: pg.Pool,
  { sealPassword }: Pick<CommandContext, 'sealPassword'>,
  connectionId: number,
  { name, address, password, tls, every }: ConnectionChanges,
): Promise<ConnectionRow> {
  const accountId = await ownerOfConnection(writer, connectionId);
  return changeAccount(writer, accountId, async ({ client, record }) => {
    const ids = [accountId, connectionId];
    const { rows } = await client.query<{ connection_type: string; tls: Tls }>(lock, ids);
    const [before] = rows;
    if (before === undefined) throw noConnection(connectionId);
    const type = address?.connection_type ?? before.connection_type;
    const known = type === before.connection_type ? before.tls : undefined;
    const sealed = password && (await sealPassword(client, { accountId, connectionId }, password));
    await client.query(change, [
      ...ids,
      name,
      address?.connection_type,
      address?.host,
      address?.port,
      address?.database,
      address?.username,
      tlsOf(type, tls ?? known),
      sealed,
    ]);
    const reached = Boolean(address ?? password ?? tls);
    if (reached || every !== undefined) {
      const { rowCount } = await client.query(reschedule, [...ids, every, reached]);
      if (rowCount === 0 && every !== undefined) {
        throw new Error(
          `Connection ${connectionId} is sample data: it is not monitored, so --every cannot be changed.`,
        );
      }
    }
    const connection = await readConnection(client, accountId, connectionId);
    const changed = Object.entries({ name, url: address, password, tls, every })
      .filter(([, value]) => value !== undefined)
      .map(([field]) => field);
    record('connection_changed', pageOf(connectionId), {
      connection_id: connectionId,
      name: connection.name,
      host: connection.host,
      port: connection.port,
      changed,
    });
    return connection;
  });
}

const remove = `
  update connection
     set removed_at = $3, credential = null
   where account_id = $1 and connection_id = $2 and removed_at is null`;

const stopSchedule = `
  update connection_schedule set due_at = 'infinity'
   where account_id = $1 and connection_id = $2`;

/** Removes a connection: it is no longer listed or watched, its password is forgotten, its tickets are resolved. */
export async function removeConnection(writer: pg.Pool, connectionId: number): Promise<ConnectionRow> {
  const accountId = await ownerOfConnection(writer, connectionId);
  return changeAccount(writer, accountId, async ({ client, at, record }) => {
    const ids = [accountId, connectionId];
    const { rowCount } = await client.query(remove, [...ids, at]);
    if (rowCount === 0) throw noConnection(connectionId);
    await client.query(stopSchedule, ids);
    const { id, name, host, port, ...row } = await readConnection(client, accountId, connectionId);
    record('connection_removed', pageOf(id), { connection_id: id, name, host, port });
    const reason = 'connection removed';
    for (const entry of await resolveTicketsOf(client, { accountId, connectionId, at, reason })) {
      record(entry.actionType, entry.pagePath, entry.properties);
    }
    return { id, name, host, port, ...row };
  });
}

/** The encryption of a connection of that type; verify-full unless told otherwise, none on a Unix socket. */
export function tlsOf(connectionType: string, wanted: Tls | undefined): Tls {
  if (connectionType !== 'unix_socket') return wanted ?? 'verify-full';
  if (wanted === undefined || wanted === 'disable') return 'disable';
  throw new UsageError('A Unix socket has no TLS: leave --tls out.');
}

function pageOf(connectionId: number): string {
  return `/settings/connections/${connectionId}`;
}
