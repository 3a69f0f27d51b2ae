import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { type SecretKeys, unwrap, wrap } from '../wrap.ts';

/** Whose password it is: bound into what is sealed, so that a row copied elsewhere does not open. */
export interface CredentialOwner {
  accountId: number;
  connectionId: number;
  /** What of it, where it is not the password. */
  of?: 'ssh key';
}

/**
 * Seals a connection's password with AES-256-GCM under the account's own key, which is made on first use and kept
 * sealed by `secret` (the keys of DBVITALS_SECRET_KEY). Call it in the transaction that stores the result.
 */
export async function sealCredential(
  client: pg.ClientBase | pg.Pool,
  secret: SecretKeys,
  owner: CredentialOwner,
  password: string,
): Promise<Buffer> {
  const key = (await accountKey(client, secret, owner)) ?? (await makeAccountKey(client, secret, owner));
  return wrap([key], credentialLabel(owner), Buffer.from(password));
}

/** The password of a connection. Throws one clear sentence when it was sealed by another secret or for another row. */
export async function openCredential(
  client: pg.ClientBase | pg.Pool,
  secret: SecretKeys,
  owner: CredentialOwner,
  sealed: Buffer,
): Promise<string> {
  const key = await accountKey(client, secret, owner);
  const password = key && unwrap([key], credentialLabel(owner), sealed);
  if (!password) throw new CredentialError(owner);
  return password.toString();
}

/** A credential that does not open; one sentence that says what to do. */
export class CredentialError extends Error {
  constructor({ connectionId }: CredentialOwner) {
    super(
      `The stored password of connection ${connectionId} does not open: set DBVITALS_SECRET_KEY to the key that it was stored with, or store the password again as docs/secrets.md says.`,
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
  secret: SecretKeys,
  owner: CredentialOwner,
): Promise<Buffer | null> {
  const { rows } = await client.query<{ sealed: Buffer }>(selectKey, [owner.accountId]);
  if (!rows[0]) return null;
  const key = unwrap(secret, credentialKeyLabel(owner.accountId), rows[0].sealed);
  if (!key) throw new CredentialError(owner);
  return key;
}

async function makeAccountKey(
  client: pg.ClientBase | pg.Pool,
  secret: SecretKeys,
  owner: CredentialOwner,
): Promise<Buffer> {
  await client.query(insertKey, [
    owner.accountId,
    wrap(secret, credentialKeyLabel(owner.accountId), randomBytes(32)),
  ]);
  const key = await accountKey(client, secret, owner);
  if (!key) throw new CredentialError(owner);
  return key;
}

/** What binds an account's key to it; whoever wraps `credential_key.sealed` anew uses it too. */
export function credentialKeyLabel(accountId: number): string {
  return `dbvitals credential key, account ${accountId}`;
}

function credentialLabel({ accountId, connectionId, of }: CredentialOwner): string {
  return `dbvitals ${of ?? 'credential'}, account ${accountId}, connection ${connectionId}`;
}
