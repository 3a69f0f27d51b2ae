import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type pg from 'pg';
import { decrypt, encrypt, type SecretKeys } from '../../platform/encryption.ts';
import { lockSealing } from '../../store/log/sealing-lock.sql.ts';
import { isSigned, rawPublicKey, type SealRow, sealColumns, sealHash, sealOf } from './seal.ts';

const selectKeys = `
  select encode(public_key, 'hex') as public_key, sealed
    from seal_key
   where account_id = $1
   order by made_at desc`;

/** The length of an Ed25519 key in PKCS #8. Behind it may stand the hash and the public key of the seal that it goes on from. */
const KEY_BYTES = 48;
const HASH_BYTES = 32;

const latestSealOfLostKey = `
  select ${sealColumns} from activity_seal s
   where account_id = $1 and exists (select from seal_key k where k.account_id = $1 and k.public_key = s.public_key)
   order by number desc limit 1`;

const insertKey = `insert into seal_key (account_id, public_key, sealed) values ($1, decode($2, 'hex'), $3)`;

/**
 * The keys that sign an account's seals, by their public key, newest first. Leaves out a key that `secret` (the keys
 * of DBVITALS_SECRET_KEY) does not decrypt, or that does not match the public key of its row: the owner of the
 * database may have planted it. `owner` acts as the store's owner, the only role that may read them.
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
    const key = createPrivateKey({ key: bytes.subarray(0, KEY_BYTES), format: 'der', type: 'pkcs8' });
    if (rawPublicKey(key) === public_key) keys.set(public_key, key);
  }
  return keys;
}

/** Like {@link openSealKeys}. Throws if there are keys and none can be decrypted. */
export async function requireSealKeys(
  owner: pg.ClientBase | pg.Pool,
  secret: SecretKeys,
  accountId: number,
): Promise<Map<string, KeyObject>> {
  const keys = await openSealKeys(owner, secret, accountId);
  if (keys.size > 0) return keys;
  const { rowCount } = await owner.query('select from seal_key where account_id = $1', [accountId]);
  if (rowCount !== 0) throw lostSealKey(accountId);
  return keys;
}

/**
 * Like {@link openSealKeys}, but makes a key if there is none. Must be called in a transaction; no other process
 * seals the account until it ends. Throws if there are keys and none can be decrypted.
 */
export async function ensureSealKeys(
  owner: pg.ClientBase,
  secret: SecretKeys,
  accountId: number,
): Promise<Map<string, KeyObject>> {
  await owner.query(lockSealing, [accountId]);
  // A wrong secret key must not start a second chain of trust.
  const keys = await requireSealKeys(owner, secret, accountId);
  return keys.size > 0 ? keys : addSealKey(owner, secret, accountId);
}

/**
 * Makes a new key for an account whose signing keys are lost. The others stay, as evidence. The last seal is recorded with the new
 * key, encrypted, so that the next seal follows that one and no other. Must be called in a transaction.
 */
export async function replaceLostSealKey(
  owner: pg.ClientBase,
  secret: SecretKeys,
  accountId: number,
): Promise<void> {
  await owner.query(lockSealing, [accountId]);
  const { rows } = await owner.query<SealRow>(latestSealOfLostKey, [accountId]);
  const last = rows[0] && sealOf(rows[0]);
  const follows = last && isSigned(last) ? sealHash(last.seal) + last.seal.public_key : '';
  await addSealKey(owner, secret, accountId, follows);
}

/** What an account's seals go on from, after its signing keys were lost. */
export interface FollowedSeals {
  /** The hashes of the last seals of lost keys. */
  hashes: Set<string>;
  /** The public keys that signed those. */
  publicKeys: Set<string>;
}

/** What {@link replaceLostSealKey} recorded. The owner of the database can't write it without the secret key. */
export async function followedSeals(
  owner: pg.ClientBase,
  secret: SecretKeys,
  accountId: number,
): Promise<FollowedSeals> {
  const { rows } = await owner.query<{ sealed: Buffer }>(selectKeys, [accountId]);
  const followed = rows.flatMap(({ sealed }) => {
    const bytes = decrypt(secret, keyLabel(accountId), sealed)?.subarray(KEY_BYTES);
    return bytes?.length ? [bytes] : [];
  });
  return {
    hashes: new Set(followed.map((bytes) => bytes.toString('hex', 0, HASH_BYTES))),
    publicKeys: new Set(followed.map((bytes) => bytes.toString('hex', HASH_BYTES))),
  };
}

async function addSealKey(
  owner: pg.ClientBase,
  secret: SecretKeys,
  accountId: number,
  follows = '',
): Promise<Map<string, KeyObject>> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const key = privateKey.export({ format: 'der', type: 'pkcs8' });
  const sealed = encrypt(secret, keyLabel(accountId), Buffer.concat([key, Buffer.from(follows, 'hex')]));
  await owner.query(insertKey, [accountId, rawPublicKey(privateKey), sealed]);
  return new Map([[rawPublicKey(privateKey), privateKey]]);
}

/** The secret key does not decrypt the signing key of an account. */
function lostSealKey(accountId: number): Error {
  return new Error(
    `The key that signs the seals of account ${accountId} can't be decrypted: set DBVITALS_SECRET_KEY to the key that it was stored with.`,
  );
}

/** The label that binds a signing key to its account. Rotating the secret key uses it too. */
export function keyLabel(accountId: number): string {
  return `dbvitals seal key, account ${accountId}`;
}
