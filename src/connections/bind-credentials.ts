import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { inTransaction } from '../database/connect.ts';
import { decrypt, encrypt, type SecretKeys } from '../database/encryption.ts';
import {
  credentialKeyLabel,
  type Destination,
  destinationColumns,
  type EncryptedSecrets,
  encryptBy,
  unboundKeyLabel,
} from './credentials.ts';

/** What became of the credentials that a version before stored without their settings. */
interface Bound {
  /** How many connections were bound to the settings that they have now. */
  connections: number;
  /** Accounts whose key is from before although the store was bound already: what it encrypted is not used. */
  refused: number[];
}

const selectKeys = 'select account_id, sealed from credential_key order by account_id';

// Keeps others from storing a first password meanwhile; who reads a key does not wait.
const lockKeys = 'lock table credential_key in share row exclusive mode';

const selectConnections = `
  select ${destinationColumns}, c.credential, c.ssh_credential
    from connection c
   where c.removed_at is null and exists (select from connection_schedule s
                                           where s.account_id = c.account_id and s.connection_id = c.connection_id)
   order by c.account_id, c.connection_id
     for update`;

const storeSecrets = `
  update connection set credential = $3, ssh_credential = $4
   where account_id = $1 and connection_id = $2`;

const storeKey = `
  insert into credential_key (account_id, sealed) values ($1, $2)
  on conflict (account_id) do update set sealed = excluded.sealed`;

/**
 * Binds the credentials of a store that an earlier version filled to the settings that their connections have: once. The keys
 * of accounts tell whether that was done, and only DBVITALS_SECRET_KEY makes one that does: from the first bound key on,
 * those from before open nothing (docs/decisions/0048). Call it before a credential is used or stored.
 */
export async function bindCredentials(writer: pg.Pool, secret: SecretKeys): Promise<Bound> {
  const keys = await readKeys(writer, secret);
  if (keys.bound) return { connections: 0, refused: [...keys.unbound.keys()] };
  return inTransaction(writer, async (client) => {
    await client.query(lockKeys);
    const now = await readKeys(client, secret);
    if (now.bound) return { connections: 0, refused: [...now.unbound.keys()] };
    // With a wrong secret key nothing is to be made anew.
    if (now.lost.size > 0 && now.unbound.size === 0) return { connections: 0, refused: [] };
    return { connections: await bindAll(client, secret, now), refused: [] };
  });
}

/** Hears what was done, as a log of the process does. */
type Log = Record<'info' | 'error', (details: object, message: string) => unknown>;

/** {@link bindCredentials}, told in the log of the process. */
export async function bindAtStart(writer: pg.Pool, secret: SecretKeys, log: Log): Promise<void> {
  const { connections, refused } = await bindCredentials(writer, secret);
  if (connections > 0)
    log.info({ connections }, 'stored passwords are bound to the settings of their connections from now on');
  if (refused.length > 0)
    log.error(
      { accounts: refused },
      'tampering: stored passwords from before the upgrade are back, and not used',
    );
}

interface Keys {
  /** Whether any account has a key of credentials that are bound. */
  bound: boolean;
  /** The keys from before, opened, by account. */
  unbound: Map<number, Buffer>;
  /** Accounts whose key can't be decrypted. */
  lost: Set<number>;
}

async function readKeys(client: pg.ClientBase | pg.Pool, secret: SecretKeys): Promise<Keys> {
  const { rows } = await client.query<{ account_id: number; sealed: Buffer }>(selectKeys);
  const keys: Keys = { bound: false, unbound: new Map(), lost: new Set() };
  for (const { account_id, sealed } of rows) {
    const key = decrypt(secret, unboundKeyLabel(account_id), sealed);
    if (key) keys.unbound.set(account_id, key);
    else if (decrypt(secret, credentialKeyLabel(account_id), sealed)) keys.bound = true;
    else keys.lost.add(account_id);
  }
  return keys;
}

async function bindAll(client: pg.ClientBase, secret: SecretKeys, { unbound, lost }: Keys): Promise<number> {
  const { rows } = await client.query<Destination & EncryptedSecrets>(selectConnections);
  const keys = new Map<number, Buffer>();
  let connections = 0;
  for (const row of rows) {
    const { account_id, connection_id } = row;
    if (lost.has(account_id)) continue;
    const before = unbound.get(account_id);
    const open = (bytes: Buffer | null, of: string) => {
      if (bytes === null) return null;
      const label = `dbvitals ${of}, account ${account_id}, connection ${connection_id}`;
      return (before && decrypt([before], label, bytes)?.toString()) ?? undefined;
    };
    const password = open(row.credential, 'credential');
    const sshKey = open(row.ssh_credential, 'ssh key');
    if (password === undefined || sshKey === undefined) continue; // it could not be decrypted before either
    const key = keys.get(account_id) ?? randomBytes(32);
    keys.set(account_id, key);
    const { credential, ssh_credential } = encryptBy(key, row, { password, sshKey });
    await client.query(storeSecrets, [account_id, connection_id, credential, ssh_credential]);
    connections += 1;
  }
  for (const accountId of new Set([...unbound.keys(), ...keys.keys()])) {
    const key = keys.get(accountId) ?? randomBytes(32);
    await client.query(storeKey, [accountId, encrypt(secret, credentialKeyLabel(accountId), key)]);
  }
  return connections;
}
