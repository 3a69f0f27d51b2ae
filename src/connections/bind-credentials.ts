import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { decrypt, encrypt, type SecretKeys } from '../platform/encryption.ts';
import { accountKeyLabel, unboundKeyLabel } from '../store/account-key.ts';
import { inTransaction } from '../store/connect.ts';
import { isCollected } from './collected-connection.ts';
import { type Destination, destinationColumns, type EncryptedSecrets, encryptBy } from './credentials.ts';

/** The result of binding credentials that an earlier version stored without their settings. */
interface Bound {
  /** How many connections had their credentials bound to the current settings. */
  connections: number;
  /** Accounts with an unbound key in a store that is already bound. Credentials encrypted with such a key are not used. */
  refused: number[];
}

const selectKeys = 'select account_id, sealed from credential_key order by account_id';

// Blocks other transactions from storing a first password, but not from reading a key.
const lockKeys = 'lock table credential_key in share row exclusive mode';

const selectConnections = `
  select ${destinationColumns}, c.credential, c.ssh_credential
    from connection c
   where c.removed_at is null and not ${isCollected} and exists (select from connection_schedule s
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
 * Binds credentials that an earlier version stored to their connections' current settings, once per store. A bound account
 * key marks the store as done, and only DBVITALS_SECRET_KEY can create one. Once there is a bound key, unbound keys decrypt
 * nothing (docs/decisions/0032). Call it before credentials are used or stored.
 */
export async function bindCredentials(writer: pg.Pool, secret: SecretKeys): Promise<Bound> {
  const keys = await readKeys(writer, secret);
  if (keys.bound) return { connections: 0, refused: [...keys.unbound.keys()] };
  return inTransaction(writer, async (client) => {
    await client.query(lockKeys);
    const now = await readKeys(client, secret);
    if (now.bound) return { connections: 0, refused: [...now.unbound.keys()] };
    // With a wrong secret key, no key is replaced.
    if (now.lost.size > 0 && now.unbound.size === 0) return { connections: 0, refused: [] };
    return { connections: await bindAll(client, secret, now), refused: [] };
  });
}

/** The part of the process log that this file uses. */
type Log = Record<'info' | 'error', (details: object, message: string) => unknown>;

/** Runs {@link bindCredentials} and logs the result. */
export async function bindAtStart(writer: pg.Pool, secret: SecretKeys, log: Log): Promise<void> {
  const { connections, refused } = await bindCredentials(writer, secret);
  if (connections > 0)
    log.info({ connections }, "stored passwords are now bound to their connections' settings");
  if (refused.length > 0)
    log.error(
      { accounts: refused },
      'tampering: stored passwords from before the upgrade were put back; they are not used',
    );
}

interface Keys {
  /** Whether any account has a bound key. */
  bound: boolean;
  /** The decrypted unbound keys, by account. */
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
    else if (decrypt(secret, accountKeyLabel(account_id), sealed)) keys.bound = true;
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
    if (password === undefined || sshKey === undefined) continue; // the earlier version could not decrypt it either
    const key = keys.get(account_id) ?? randomBytes(32);
    keys.set(account_id, key);
    const { credential, ssh_credential } = encryptBy(key, row, { password, sshKey });
    await client.query(storeSecrets, [account_id, connection_id, credential, ssh_credential]);
    connections += 1;
  }
  for (const accountId of new Set([...unbound.keys(), ...keys.keys()])) {
    const key = keys.get(accountId) ?? randomBytes(32);
    await client.query(storeKey, [accountId, encrypt(secret, accountKeyLabel(accountId), key)]);
  }
  return connections;
}
