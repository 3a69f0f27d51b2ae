import type pg from 'pg';
import { changeAccount } from '../activity/record-entry.ts';
import type { EmbeddedStore } from '../database/embedded.ts';
import type { SecretKeys } from '../database/encryption.ts';
import { changeConnection } from './change-connection.ts';
import { trustedSecrets } from './connection-secrets.ts';

// Those that name the role which only an embedded store has.
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
 * Leads the connection that the first start made to the former store to the one of `monitor`, after a restore. Only that one, the
 * oldest: a look-alike that somebody added later must not be given the password of the store's monitoring role.
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
 * Leads the store's connection to itself to the folder where the store lies now: it was moved or copied since. Only a connection
 * that holds the password of the store's own monitoring role is changed; nobody else knows it. Gives how many were.
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
