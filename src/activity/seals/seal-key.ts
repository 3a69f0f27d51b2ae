import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type pg from 'pg';
import { decrypt, encrypt, type SecretKeys } from '../../database/encryption.ts';
import { rawPublicKey } from './seal.ts';

const selectKeys = `
  select encode(public_key, 'hex') as public_key, sealed
    from seal_key
   where account_id = $1
   order by made_at desc`;

const insertKey = `insert into seal_key (account_id, public_key, sealed) values ($1, decode($2, 'hex'), $3)`;

/**
 * The keys that sign an account's seals, by their public key, the newest first. A key that the secret (the keys of
 * DBVITALS_SECRET_KEY) does not open, or that is not the one that its row names, is left out: whoever owns the database may
 * have put it there. `owner` acts as the store's owner: nobody else may read them.
 */
export async function openSealKeys(
  owner: pg.ClientBase | pg.Pool,
  secret: SecretKeys,
  accountId: number,
): Promise<Map<string, KeyObject>> {
  const { rows } = await owner.query<{ public_key: string; sealed: Buffer }>(selectKeys, [accountId]);
  const keys = new Map<string, KeyObject>();
  for (const { public_key, sealed } of rows) {
    const bytes = decrypt(secret, keyLabel(accountId), sealed);
    if (!bytes) continue;
    const key = createPrivateKey({ key: bytes, format: 'der', type: 'pkcs8' });
    if (rawPublicKey(key) === public_key) keys.set(public_key, key);
  }
  return keys;
}

// Any number: who seals an account, or makes its key, has it for itself until the transaction ends.
const SEALING = 5_807;
const lockSealing = `select pg_advisory_xact_lock(${SEALING}, hashint8($1))`;

/**
 * {@link openSealKeys}; where there is none yet, makes one. Nobody else seals the account until the transaction, in which it
 * must be called, ends. Throws when there are keys and none opens.
 */
export async function ensureSealKeys(
  owner: pg.ClientBase,
  secret: SecretKeys,
  accountId: number,
): Promise<Map<string, KeyObject>> {
  await owner.query(lockSealing, [accountId]);
  const keys = await openSealKeys(owner, secret, accountId);
  if (keys.size > 0) return keys;
  const { rowCount } = await owner.query('select from seal_key where account_id = $1', [accountId]);
  // Another secret by mistake must not begin another chain of trust.
  if (rowCount !== 0) throw new SealKeyError(accountId);
  const { privateKey } = generateKeyPairSync('ed25519');
  const sealed = encrypt(secret, keyLabel(accountId), privateKey.export({ format: 'der', type: 'pkcs8' }));
  await owner.query(insertKey, [accountId, rawPublicKey(privateKey), sealed]);
  return new Map([[rawPublicKey(privateKey), privateKey]]);
}

/** The secret key does not decrypt the signing key of an account. */
class SealKeyError extends Error {
  constructor(accountId: number) {
    super(
      `The key that signs the seals of account ${accountId} can't be decrypted: set DBVITALS_SECRET_KEY to the key that it was stored with.`,
    );
  }
}

/** The label that binds a signing key to its account. Rotating the secret key uses it too. */
export function keyLabel(accountId: number): string {
  return `dbvitals seal key, account ${accountId}`;
}
