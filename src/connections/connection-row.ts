import type pg from 'pg';
import { notFound } from '../platform/rejection.ts';
import { serverVersion } from '../platform/text/server-version.ts';
import type { Read } from '../store/read.ts';
import type { ConnectionType } from '../vocabulary/connection-types.ts';
import type { Engine } from '../vocabulary/engines.ts';

/** A connection as endpoint 1 shows it. */
export interface ConnectionRow {
  id: number;
  name: string;
  host: string;
  port: number;
  connection_type: ConnectionType;
  latest_check_id: number | null;
  score: number | null;
  last_checked_at: Date | null;
  summary_text: string | null;
}

const select = `
  select c.connection_id as id, c.name, c.host, c.port, c.connection_type, c.latest_check_id,
         h.score, h.created_at as last_checked_at, h.summary_text
    from connection c
    left join health_check h on h.account_id = c.account_id and h.health_check_id = c.latest_check_id`;

const ofAccount = `${select} where c.account_id = $1 and c.removed_at is null order by c.connection_id`;
const one = `${select} where c.account_id = $1 and c.connection_id = $2`;
const ownerOf = 'select account_id from connection where connection_id = $1 and removed_at is null';

/** The account's connections without removed ones, ordered by id. */
export async function listConnections(
  client: pg.ClientBase | pg.Pool,
  accountId: number,
): Promise<ConnectionRow[]> {
  return (await client.query<ConnectionRow>(ofAccount, [accountId])).rows;
}

const listed = `
  select from connection where account_id = $1 and connection_id = $2 and removed_at is null`;

/** Whether the account has the connection, and it was not removed. */
export async function isListed(read: Read, accountId: number, connectionId: number): Promise<boolean> {
  return (await read(listed, [accountId, connectionId])).length > 0;
}

const serversOfAccount = `
  select c.connection_id as id, c.engine, v.version
    from connection c
    left join connection_version v using (account_id, connection_id)
   where c.account_id = $1 and c.removed_at is null`;

/** The engine of a connection's server, and its version as a run measured it last, such as 18.4; null before. */
export interface ConnectionServer {
  engine: Engine;
  version: string | null;
}

/** The servers of the account's connections, by connection. */
export async function listServers(
  client: pg.ClientBase | pg.Pool,
  accountId: number,
): Promise<Map<number, ConnectionServer>> {
  const { rows } = await client.query<{ id: number; engine: Engine; version: number | null }>(
    serversOfAccount,
    [accountId],
  );
  return new Map(
    rows.map(({ id, engine, version }) => [
      id,
      { engine, version: version === null ? null : serverVersion(engine, version) },
    ]),
  );
}

/** A connection, removed or not. Throws when it does not exist. */
export async function readConnection(
  client: pg.ClientBase,
  accountId: number,
  id: number,
): Promise<ConnectionRow> {
  const { rows } = await client.query<ConnectionRow>(one, [accountId, id]);
  const [row] = rows;
  if (row === undefined) throw notFound('connection', id);
  return row;
}

/** A connection's account, found by the connection's id. Throws when the connection does not exist or was removed. */
export async function ownerOfConnection(writer: pg.Pool, id: number): Promise<number> {
  const { rows } = await writer.query<{ account_id: number }>(ownerOf, [id]);
  const [row] = rows;
  if (row === undefined) throw notFound('connection', id);
  return row.account_id;
}
