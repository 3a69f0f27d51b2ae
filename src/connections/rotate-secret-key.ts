import type pg from 'pg';
import { keyLabel as sealKeyLabel } from '../activity/seals/seal-key.ts';
import { redactionKeyLabel } from '../changes/redaction-key.ts';
import { accountKeyLabel, unboundKeyLabel } from '../database/account-key.ts';
import { inTransaction } from '../database/connect.ts';
import { decrypt, encrypt, type SecretKeys } from '../database/encryption.ts';
import { forgetDestinationSecrets } from '../notifications/destinations/destination-secrets.ts';

/** How many of the store's encrypted keys were rotated. */
export interface RotatedKeys {
  /** Encrypted again, with the first key. */
  rewrapped: number;
  /** Already encrypted with the first key. */
  unchanged: number;
  /** Removed, because no key decrypts them. */
  forgotten: number;
}

interface EncryptedKey {
  account_id: number;
  /** 0 in a table without connections. */
  connection_id: number;
  sealed: Buffer;
}

// A key keeps its label: a key from before credentials were bound to settings stays unbound.
const TABLES = [
  { table: 'credential_key', column: 'sealed', labels: [accountKeyLabel, unboundKeyLabel] },
  { table: 'seal_key', column: 'sealed', labels: [sealKeyLabel] },
  { table: 'redaction_key', column: 'encrypted', labels: [redactionKeyLabel] },
] as const;

type Table = (typeof TABLES)[number];

// Readers do not wait for row locks: health checks and seals continue with the old or the new ciphertext.
const selectKeys = ({ table, column }: Table) => `
  select account_id, ${table === 'redaction_key' ? 'connection_id' : '0 as connection_id'}, ${column} as sealed
    from ${table}`;

const lockKeys = (table: Table) => `${selectKeys(table)} order by account_id, ${table.column} for update`;

// Each ciphertext is unique, because its nonce is random.
const updateKeys = ({ table, column }: Table) => `
  update ${table} k set ${column} = n.rotated
    from unnest($1::bigint[], $2::bytea[], $3::bytea[]) n (account_id, sealed, rotated)
   where k.account_id = n.account_id and k.${column} = n.sealed`;

const forgetCredentialKeys = `
  with forgotten as (
    delete from credential_key where account_id = any ($1) returning account_id
  )
  update connection set credential = null, ssh_credential = null
   where account_id in (select account_id from forgotten)`;

// The next run makes a new one, and does not compare with what the lost one hashed.
const forgetRedactionKeys = `
  delete from redaction_key k
   using unnest($1::bigint[], $2::bytea[]) n (account_id, encrypted)
   where k.account_id = n.account_id and k.encrypted = n.encrypted`;

/**
 * Encrypts every key in the store with the first key of DBVITALS_SECRET_KEY, in one transaction of the store's owner.
 * If no key decrypts one of them, throws and changes nothing. With `forgetLost` it removes lost credential and redaction
 * keys instead, so that passwords and the secrets of destinations can be stored again; it keeps lost keys of seals, because they are evidence.
 */
export function rotateSecretKey(
  owner: pg.Pool,
  secret: SecretKeys,
  forgetLost: boolean,
): Promise<RotatedKeys> {
  return inTransaction(owner, async (client) => {
    const done: RotatedKeys = { rewrapped: 0, unchanged: 0, forgotten: 0 };
    for (const table of TABLES) {
      const { rows } = await client.query<EncryptedKey>(lockKeys(table));
      const old: EncryptedKey[] = [];
      const rotated: Buffer[] = [];
      const lost: EncryptedKey[] = [];
      for (const row of rows) {
        const opened = openKey(secret, table.labels, row);
        if (!opened) lost.push(row);
        else if (decrypt([secret[0]], opened.label, row.sealed)) done.unchanged += 1;
        else {
          old.push(row);
          rotated.push(encrypt(secret, opened.label, opened.key));
        }
      }
      if (lost[0] !== undefined && !forgetLost) throw new LostKeyError(lost[0].account_id);
      const lostAccounts = lost.map(({ account_id }) => account_id);
      if (table.table === 'credential_key' && lost.length > 0) {
        await client.query(forgetCredentialKeys, [lostAccounts]);
        await forgetDestinationSecrets(client, lostAccounts);
        done.forgotten = lost.length;
      }
      if (table.table === 'redaction_key' && lost.length > 0)
        await client.query(forgetRedactionKeys, [lostAccounts, lost.map(({ sealed }) => sealed)]);
      const accounts = old.map(({ account_id }) => account_id);
      const values = [accounts, old.map(({ sealed }) => sealed), rotated];
      const { rowCount } = await client.query(updateKeys(table), values);
      done.rewrapped += rowCount ?? 0;
    }
    return done;
  });
}

/** Counts the encrypted keys in the store that no key of DBVITALS_SECRET_KEY decrypts. */
export async function countLost(client: pg.ClientBase, secret: SecretKeys): Promise<number> {
  let lost = 0;
  for (const table of TABLES) {
    const { rows } = await client.query<EncryptedKey>(selectKeys(table));
    lost += rows.filter((row) => !openKey(secret, table.labels, row)).length;
  }
  return lost;
}

function openKey(
  secret: SecretKeys,
  labels: Table['labels'],
  { account_id, connection_id, sealed }: EncryptedKey,
): { label: string; key: Buffer } | null {
  for (const labelOf of labels) {
    const label = labelOf(account_id, connection_id);
    const key = decrypt(secret, label, sealed);
    if (key) return { label, key };
  }
  return null;
}

/** Whether the store has encrypted keys and `secret` decrypts none of them, so that it belongs to another store. */
export async function isOfOtherStore(owner: pg.Pool, secret: SecretKeys): Promise<boolean> {
  let held = false;
  for (const table of TABLES) {
    const { rows } = await owner.query<EncryptedKey>(selectKeys(table));
    if (rows.some((row) => openKey(secret, table.labels, row))) return false;
    held ||= rows.length > 0;
  }
  return held;
}

/** No secret key decrypts a key in the store. */
class LostKeyError extends Error {
  constructor(accountId: number) {
    super(
      `No key of DBVITALS_SECRET_KEY decrypts what is stored for account ${accountId}, and nothing was changed: add the key that encrypted it, or see docs/secrets.md if it is lost.`,
    );
  }
}
