import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { decrypt, encrypt, type SecretKeys } from '../platform/encryption.ts';

/** No key of DBVITALS_SECRET_KEY decrypts an account's key. The message says how to fix it. */
export class LostAccountKey extends Error {
  constructor(accountId: number) {
    super(
      `The stored secrets of account ${accountId} can't be decrypted: set DBVITALS_SECRET_KEY to the key that they were stored with, or see docs/secrets.md if it is lost.`,
    );
  }
}

const selectKey = 'select sealed from credential_key where account_id = $1';

// When two transactions store an account's first secret, the second waits for the first and uses its key.
const insertKey = `
  insert into credential_key (account_id, sealed) values ($1, $2)
  on conflict (account_id) do nothing`;

// Once the store is bound, unbound keys are never used again (connections/bind-credentials.ts).
const replaceKey = 'update credential_key set sealed = $3 where account_id = $1 and sealed = $2';

/**
 * The account's own key, which encrypts its credentials; null if it has none yet. It is stored encrypted with `secret`, so
 * rotating DBVITALS_SECRET_KEY encrypts only these keys again. Throws {@link LostAccountKey}.
 */
export async function accountKey(
  client: pg.ClientBase | pg.Pool,
  secret: SecretKeys,
  accountId: number,
): Promise<Buffer | null> {
  const { rows } = await client.query<{ sealed: Buffer }>(selectKey, [accountId]);
  if (!rows[0]) return null;
  const { sealed } = rows[0];
  const key = decrypt(secret, accountKeyLabel(accountId), sealed);
  if (!key && !decrypt(secret, unboundKeyLabel(accountId), sealed)) throw new LostAccountKey(accountId);
  return key;
}

/** {@link accountKey}; creates it on first use. Call it in the transaction that stores what the key encrypts. */
export async function makeAccountKey(
  client: pg.ClientBase | pg.Pool,
  secret: SecretKeys,
  accountId: number,
): Promise<Buffer> {
  const known = await accountKey(client, secret, accountId);
  if (known) return known;
  const made = encrypt(secret, accountKeyLabel(accountId), randomBytes(32));
  const { rows } = await client.query<{ sealed: Buffer }>(selectKey, [accountId]);
  if (rows[0]) await client.query(replaceKey, [accountId, rows[0].sealed, made]);
  else await client.query(insertKey, [accountId, made]);
  const key = await accountKey(client, secret, accountId);
  if (!key) throw new LostAccountKey(accountId);
  return key;
}

/** The label that binds an account's key to the account. Rotating the secret key uses it too. */
export function accountKeyLabel(accountId: number): string {
  return `dbvitals credential key of bound settings, account ${accountId}`;
}

/** The label of an account's unbound key, from before credentials were bound to settings. */
export function unboundKeyLabel(accountId: number): string {
  return `dbvitals credential key, account ${accountId}`;
}
