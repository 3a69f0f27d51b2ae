import type pg from 'pg';
import type { SecretKeys } from '../database/encryption.ts';
import {
  type Destination,
  decryptSecrets,
  destinationColumns,
  type EncryptedSecrets,
  encryptSecrets,
  type Secrets,
  TamperedConnection,
} from './credentials.ts';

/** The primary key of a connection. */
interface ConnectionKey {
  accountId: number;
  connectionId: number;
}

const select = `
  select ${destinationColumns}, c.credential, c.ssh_credential
    from connection c
   where c.account_id = $1 and c.connection_id = $2`;

const update = `
  update connection set credential = $3, ssh_credential = $4
   where account_id = $1 and connection_id = $2`;

/** A connection's secrets; null when the connection does not exist. Throws as `decryptSecrets` does. */
export async function readSecrets(
  client: pg.ClientBase | pg.Pool,
  secret: SecretKeys,
  key: ConnectionKey,
): Promise<Secrets | null> {
  const row = await rowOf(client, key);
  return row ? decryptSecrets(client, secret, row, row) : null;
}

/** {@link readSecrets}, but null when the secrets were not stored with the connection's current settings. */
export async function trustedSecrets(
  client: pg.ClientBase | pg.Pool,
  secret: SecretKeys,
  key: ConnectionKey,
): Promise<Secrets | null> {
  try {
    return await readSecrets(client, secret, key);
  } catch (error) {
    if (error instanceof TamperedConnection) return null;
    throw error;
  }
}

/**
 * Encrypts a connection's secrets for its current settings and stores them. Call it in the transaction that changed the
 * settings. Without a tunnel, the SSH key is deleted.
 */
export async function storeSecrets(
  client: pg.ClientBase | pg.Pool,
  secret: SecretKeys,
  key: ConnectionKey,
  { password, sshKey }: Secrets,
): Promise<void> {
  const row = await rowOf(client, key);
  if (!row) return;
  const kept = { password, sshKey: row.connection_type === 'ssh_tunnel' ? sshKey : null };
  const { credential, ssh_credential } = await encryptSecrets(client, secret, row, kept);
  await client.query(update, [key.accountId, key.connectionId, credential, ssh_credential]);
}

async function rowOf(
  client: pg.ClientBase | pg.Pool,
  { accountId, connectionId }: ConnectionKey,
): Promise<(Destination & EncryptedSecrets) | undefined> {
  const { rows } = await client.query<Destination & EncryptedSecrets>(select, [accountId, connectionId]);
  return rows[0];
}
