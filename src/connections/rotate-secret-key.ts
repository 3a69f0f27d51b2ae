import type pg from 'pg';
import { replaceLostSealKey, keyLabel as sealKeyLabel } from '../activity/seals/seal-key.ts';
import type { StoreAddress } from '../config/store-url.ts';
import { forgetDestinationSecrets } from '../notifications/destinations/destination-secrets.ts';
import { decrypt, encrypt, type SecretKeys } from '../platform/encryption.ts';
import { redactionKeyLabel } from '../runs/changes/redaction-key.ts';
import { accountKeyLabel, unboundKeyLabel } from '../store/account-key.ts';
import { inTransaction, openPool, WORK_DEADLINE_MS } from '../store/connect.ts';

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
 * keys instead, so that passwords and the secrets of destinations can be stored again. An account whose signing key is lost
 * gets a new one for its next seals, and keeps the lost one, which is evidence.
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
      const lost = lostKeys(secret, table, rows);
      if (lost[0] !== undefined && !forgetLost) throw lostKey(lost[0].account_id);
      if (lost.length > 0) await forget(client, secret, table, lost);
      if (table.table === 'credential_key') done.forgotten = lost.length;
      const old: EncryptedKey[] = [];
      const rotated: Buffer[] = [];
      for (const row of rows) {
        const opened = openKey(secret, table.labels, row);
        if (!opened) continue;
        if (decrypt([secret[0]], opened.label, row.sealed)) done.unchanged += 1;
        else {
          old.push(row);
          rotated.push(encrypt(secret, opened.label, opened.key));
        }
      }
      const accounts = old.map(({ account_id }) => account_id);
      const values = [accounts, old.map(({ sealed }) => sealed), rotated];
      const { rowCount } = await client.query(updateKeys(table), values);
      done.rewrapped += rowCount ?? 0;
    }
    return done;
  });
}

/** The keys that no key of DBVITALS_SECRET_KEY decrypts, and that nothing has replaced. */
function lostKeys(secret: SecretKeys, table: Table, rows: readonly EncryptedKey[]): EncryptedKey[] {
  const lost = rows.filter((row) => !openKey(secret, table.labels, row));
  if (table.table !== 'seal_key' || lost.length === 0) return lost;
  const unopened = new Set(lost);
  const signing = new Set(rows.filter((row) => !unopened.has(row)).map(({ account_id }) => account_id));
  return lost.filter(({ account_id }) => !signing.has(account_id));
}

async function forget(
  client: pg.ClientBase,
  secret: SecretKeys,
  { table }: Table,
  lost: readonly EncryptedKey[],
): Promise<void> {
  const accounts = [...new Set(lost.map(({ account_id }) => account_id))];
  if (table === 'seal_key') {
    for (const accountId of accounts) await replaceLostSealKey(client, secret, accountId);
  } else if (table === 'credential_key') {
    await client.query(forgetCredentialKeys, [accounts]);
    await forgetDestinationSecrets(client, accounts);
  } else {
    const values = [lost.map(({ account_id }) => account_id), lost.map(({ sealed }) => sealed)];
    await client.query(forgetRedactionKeys, values);
  }
}

/** Counts the encrypted keys in the store that no key of DBVITALS_SECRET_KEY decrypts. */
export async function countLost(client: pg.ClientBase, secret: SecretKeys): Promise<number> {
  let lost = 0;
  for (const table of TABLES) {
    const { rows } = await client.query<EncryptedKey>(selectKeys(table));
    lost += lostKeys(secret, table, rows).length;
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

/** Throws a {@link WrongSecretKey} if the store has encrypted keys and `secret` decrypts none of them. */
export async function requireOwnSecret(address: StoreAddress, secret: SecretKeys): Promise<void> {
  const owner = openPool(address, 'owner', { max: 1, statementTimeout: WORK_DEADLINE_MS });
  try {
    if (await isOfOtherStore(owner, secret)) throw new WrongSecretKey();
  } finally {
    await owner.end();
  }
}

/** The secret key belongs to another store. */
export class WrongSecretKey extends Error {
  constructor() {
    super(
      'The secret key decrypts nothing in the store: set DBVITALS_SECRET_KEY to the key of this store, or see "If the key is lost" in docs/secrets.md.',
    );
  }
}

/** No secret key decrypts a key in the store. */
function lostKey(accountId: number): Error {
  return new Error(
    `No key of DBVITALS_SECRET_KEY decrypts what is stored for account ${accountId}, and nothing was changed: add the key that encrypted it, or see docs/secrets.md if it is lost.`,
  );
}
