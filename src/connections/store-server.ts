import type pg from 'pg';
import type { SecretKeys } from '../platform/encryption.ts';
import type { Provider } from '../vocabulary/hosted/providers.ts';
import { storeSecrets, trustedSecrets } from './credentials.ts';

/** The primary key of a connection. */
interface ConnectionKey {
  accountId: number;
  connectionId: number;
}

const updateProvider = `
  update connection set provider = $3
   where account_id = $1 and connection_id = $2 and provider is distinct from $3`;

// A version that stays is not written again: an update locks the row, which is a write too.
const storeChanged = `
  insert into connection_version (account_id, connection_id, version, since)
  select $1, $2, $3::integer, $4
   where not exists (select from connection_version where account_id = $1 and connection_id = $2 and version = $3)
  on conflict (account_id, connection_id) do update set version = excluded.version, since = excluded.since`;

/** Stores the version of a connection's server and who hosts it, as a run recognised them, where they changed. */
export async function storeServer(
  client: pg.ClientBase,
  { accountId, connectionId, at }: ConnectionKey & { at: string },
  { provider, version }: { provider: Provider | null; version: number },
): Promise<void> {
  await client.query(updateProvider, [accountId, connectionId, provider]);
  await client.query(storeChanged, [accountId, connectionId, version, at]);
}

const pin = `
  update connection set ssh_host_key = $3
   where account_id = $1 and connection_id = $2 and ssh_host = $4 and coalesce(ssh_port, 22) = $5 and ssh_host_key is null`;

/**
 * Stores the key that an SSH server showed first, unless the connection meanwhile has another SSH server or was
 * tampered with: the next run reports that.
 */
export async function pinHostKey(
  client: pg.ClientBase,
  secret: SecretKeys,
  connection: ConnectionKey,
  { host, port }: { host: string; port: number },
  hostKey: string,
): Promise<void> {
  const secrets = await trustedSecrets(client, secret, connection);
  if (!secrets) return;
  await client.query(pin, [connection.accountId, connection.connectionId, hostKey, host, port]);
  await storeSecrets(client, secret, connection, secrets);
}
