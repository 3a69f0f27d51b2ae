import type pg from 'pg';
import { changeAccount } from '../activity/record-entry.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import type { EmbeddedStore } from '../store/embedded.ts';
import { changeConnection } from './change-connection.ts';
import { trustedSecrets } from './credentials.ts';

// Connections that use the monitoring role, which only an embedded store has.
const selectWatching = `
  select account_id, connection_id, host
    from connection
   where connection_type = 'unix_socket' and database = $1 and username = $2 and removed_at is null
   order by account_id, connection_id`;

interface Watching {
  account_id: number;
  connection_id: number;
  host: string;
}

type Monitor = EmbeddedStore['monitor'];

/**
 * After a restore, points the connection to the old store, created by the first start, to the store of `monitor`. Only the
 * oldest connection is changed: a similar one that a person added must not get the monitoring role's password.
 */
export async function watchRestoredStore(
  writer: pg.Pool,
  secret: SecretKeys,
  monitor: Monitor,
): Promise<void> {
  const [oldest] = await watchingRows(writer, monitor);
  if (oldest) await lead(writer, secret, oldest, monitor);
}

/**
 * Points the store's connection to itself to the current data folder, after the folder was moved or copied. Only
 * connections with the monitoring role's password are changed, because only the store knows it. Returns their number.
 */
export async function followDataFolder(
  writer: pg.Pool,
  secret: SecretKeys,
  monitor: Monitor,
): Promise<number> {
  let changed = 0;
  for (const row of await watchingRows(writer, monitor)) {
    if (row.host === monitor.host) continue;
    const key = { accountId: row.account_id, connectionId: row.connection_id };
    const stored = await trustedSecrets(writer, secret, key);
    if (stored?.password !== monitor.password) continue;
    await lead(writer, secret, row, monitor);
    changed += 1;
  }
  return changed;
}

async function watchingRows(writer: pg.Pool, { database, user }: Monitor): Promise<Watching[]> {
  return (await writer.query<Watching>(selectWatching, [database, user])).rows;
}

async function lead(writer: pg.Pool, secret: SecretKeys, row: Watching, monitor: Monitor): Promise<void> {
  const { host, port, database, user: username, password } = monitor;
  const way = { engine: 'postgres', connection_type: 'unix_socket', host, port, database, username } as const;
  await changeConnection((work) => changeAccount(writer, row.account_id, work), secret, row.connection_id, {
    address: { ...way, password },
    password,
  });
}
