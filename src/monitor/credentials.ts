import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type pg from 'pg';

/** Whose password it is: bound into what is sealed, so that a row copied elsewhere does not open. */
export interface CredentialOwner {
  accountId: number;
  connectionId: number;
  /** What of it, where it is not the password. */
  of?: 'ssh key';
}

/**
 * Seals a connection's password with AES-256-GCM under the account's own key, which is made on first use and kept
 * sealed by `secret` (the 32 bytes of DBVITALS_SECRET_KEY). Call it in the transaction that stores the result.
 */
export async function sealCredential(
  client: pg.ClientBase | pg.Pool,
  secret: Buffer,
  owner: CredentialOwner,
  password: string,
): Promise<Buffer> {
  const key = (await accountKey(client, secret, owner)) ?? (await makeAccountKey(client, secret, owner));
  return seal(key, credentialLabel(owner), Buffer.from(password));
}

/** The password of a connection. Throws one clear sentence when it was sealed by another secret or for another row. */
export async function openCredential(
  client: pg.ClientBase | pg.Pool,
  secret: Buffer,
  owner: CredentialOwner,
  sealed: Buffer,
): Promise<string> {
  const key = await accountKey(client, secret, owner);
  if (!key) throw new CredentialError(owner);
  return open(key, credentialLabel(owner), sealed, owner).toString();
}

/** A credential that does not open. */
class CredentialError extends Error {
  constructor({ connectionId }: CredentialOwner) {
    super(
      `The stored password of connection ${connectionId} does not open: set DBVITALS_SECRET_KEY to the key that it was stored with, or store the password again with "connection change".`,
    );
  }
}

const selectKey = 'select sealed from credential_key where account_id = $1';

// Two that seal an account's first password at once: the second waits for the first and takes its key.
const insertKey = `
  insert into credential_key (account_id, sealed) values ($1, $2)
  on conflict (account_id) do nothing`;

async function accountKey(
  client: pg.ClientBase | pg.Pool,
  secret: Buffer,
  owner: CredentialOwner,
): Promise<Buffer | null> {
  const { rows } = await client.query<{ sealed: Buffer }>(selectKey, [owner.accountId]);
  return rows[0] ? open(secret, keyLabel(owner), rows[0].sealed, owner) : null;
}

async function makeAccountKey(
  client: pg.ClientBase | pg.Pool,
  secret: Buffer,
  owner: CredentialOwner,
): Promise<Buffer> {
  await client.query(insertKey, [owner.accountId, seal(secret, keyLabel(owner), randomBytes(32))]);
  const key = await accountKey(client, secret, owner);
  if (!key) throw new CredentialError(owner);
  return key;
}

function keyLabel({ accountId }: CredentialOwner): Buffer {
  return Buffer.from(`dbvitals credential key, account ${accountId}`);
}

function credentialLabel({ accountId, connectionId, of }: CredentialOwner): Buffer {
  return Buffer.from(`dbvitals ${of ?? 'credential'}, account ${accountId}, connection ${connectionId}`);
}

// Sealed = version 1, nonce of 12 bytes, tag of 16, ciphertext. A nonce is never used twice: it is random, and a
// key seals far fewer than 2^32 texts (NIST SP 800-38D, section 8.3).
const VERSION = 1;
const HEAD = 1 + 12 + 16;

function seal(key: Buffer, label: Buffer, text: Buffer): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(label);
  const ciphertext = Buffer.concat([cipher.update(text), cipher.final()]);
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), ciphertext]);
}

function open(key: Buffer, label: Buffer, sealed: Buffer, owner: CredentialOwner): Buffer {
  if (sealed[0] !== VERSION || sealed.length < HEAD) throw new CredentialError(owner);
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, 13), { authTagLength: 16 });
  decipher.setAAD(label).setAuthTag(sealed.subarray(13, HEAD));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(HEAD)), decipher.final()]);
  } catch {
    throw new CredentialError(owner);
  }
}
