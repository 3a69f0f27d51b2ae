import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { decrypt, encrypt, type SecretKeys } from '../../platform/encryption.ts';
import { one } from '../../store/one.ts';

/** The label that binds a connection's redaction key to it. Rotating the secret key uses it too. */
export function redactionKeyLabel(accountId: number, connectionId: number): string {
  return `dbvitals redaction key, account ${accountId}, connection ${connectionId}`;
}

// Replaces only the key that could not be decrypted: of two runs at once, both use the key of the first.
const store = `
  insert into redaction_key as k (account_id, connection_id, encrypted) values ($1, $2, $3)
  on conflict (account_id, connection_id)
  do update set encrypted = case when k.encrypted = $4 then excluded.encrypted else k.encrypted end
  returning encrypted`;

/**
 * The key by which the values of a connection's sensitive settings are hashed. `encrypted` is the stored one; if there is
 * none, or the secret key that encrypted it is lost, a new one is stored. Null if another process stored one with another
 * secret key meanwhile.
 */
export async function redactionKey(
  client: pg.ClientBase | pg.Pool,
  secret: SecretKeys,
  { accountId, connectionId }: { accountId: number; connectionId: number },
  encrypted: Buffer | null,
): Promise<Buffer | null> {
  const label = redactionKeyLabel(accountId, connectionId);
  const known = encrypted && decrypt(secret, label, encrypted);
  if (known) return known;
  const made = encrypt(secret, label, randomBytes(32));
  const { rows } = await client.query<{ encrypted: Buffer }>(store, [
    accountId,
    connectionId,
    made,
    encrypted,
  ]);
  return decrypt(secret, label, one(rows, 'store a redaction key').encrypted);
}

const forget = `
  with keys as (
    delete from redaction_key where account_id = $1 and connection_id = $2
  )
  delete from fact_snapshot where account_id = $1 and connection_id = $2`;

/** Deletes what was read of a connection that is removed, and its key. The changes stay. */
export async function forgetFacts(
  client: pg.ClientBase,
  accountId: number,
  connectionId: number,
): Promise<void> {
  await client.query(forget, [accountId, connectionId]);
}
