import type pg from 'pg';
import { keyLabel as sealKeyLabel } from '../activity/seals/seal-key.ts';
import { inTransaction } from '../database/connect.ts';
import { type SecretKeys, unwrap, wrap } from '../database/encryption.ts';
import { credentialKeyLabel, unboundKeyLabel } from './credentials.ts';

/** What became of the keys that the store holds wrapped. */
export interface Rewrapped {
  /** Wrapped anew, by the first key. */
  rewrapped: number;
  /** Wrapped by the first key before. */
  unchanged: number;
  /** Removed, for no key opens them. */
  forgotten: number;
}

interface WrappedKey {
  account_id: number;
  sealed: Buffer;
}

// A key is wrapped anew as what it is: one from before credentials were bound stays one.
const TABLES = [
  { table: 'credential_key', labels: [credentialKeyLabel, unboundKeyLabel] },
  { table: 'seal_key', labels: [sealKeyLabel] },
] as const;

type Table = (typeof TABLES)[number]['table'];

// Who reads a key waits for no row lock: health checks and seals go on meanwhile, by the old form or the new.
const selectKeys = (table: Table) =>
  `select account_id, sealed from ${table} order by account_id, sealed for update`;

// No two wrapped forms are alike, for the nonce is random.
const updateKeys = (table: Table) => `
  update ${table} k set sealed = n.anew
    from unnest($1::bigint[], $2::bytea[], $3::bytea[]) n (account_id, sealed, anew)
   where k.account_id = n.account_id and k.sealed = n.sealed`;

const forgetCredentialKeys = `
  with forgotten as (
    delete from credential_key where account_id = any ($1) returning account_id
  )
  update connection set credential = null, ssh_credential = null
   where account_id in (select account_id from forgotten)`;

/**
 * Wraps every key that the store holds by the first of the keys of DBVITALS_SECRET_KEY, in one transaction of the store's
 * owner. When one opens with none of them, throws and changes nothing; with `forgetLost` those of credentials are removed,
 * so that passwords can be stored again, and those of seals stay, for they are evidence.
 */
export function rewrap(owner: pg.Pool, secret: SecretKeys, forgetLost: boolean): Promise<Rewrapped> {
  return inTransaction(owner, async (client) => {
    const done: Rewrapped = { rewrapped: 0, unchanged: 0, forgotten: 0 };
    for (const { table, labels } of TABLES) {
      const { rows } = await client.query<WrappedKey>(selectKeys(table));
      const old: WrappedKey[] = [];
      const anew: Buffer[] = [];
      const lost: number[] = [];
      for (const row of rows) {
        const opened = openKey(secret, labels, row);
        if (!opened) lost.push(row.account_id);
        else if (unwrap([secret[0]], opened.label, row.sealed)) done.unchanged += 1;
        else {
          old.push(row);
          anew.push(wrap(secret, opened.label, opened.key));
        }
      }
      if (lost[0] !== undefined && !forgetLost) throw new LostKeyError(lost[0]);
      if (table === 'credential_key' && lost.length > 0) {
        await client.query(forgetCredentialKeys, [lost]);
        done.forgotten = lost.length;
      }
      const accounts = old.map(({ account_id }) => account_id);
      const values = [accounts, old.map(({ sealed }) => sealed), anew];
      const { rowCount } = await client.query(updateKeys(table), values);
      done.rewrapped += rowCount ?? 0;
    }
    return done;
  });
}

/** How many of the keys that the store holds wrapped are opened by none of the keys of DBVITALS_SECRET_KEY. */
export async function countLost(client: pg.ClientBase, secret: SecretKeys): Promise<number> {
  let lost = 0;
  for (const { table, labels } of TABLES) {
    const { rows } = await client.query<WrappedKey>(`select account_id, sealed from ${table}`);
    lost += rows.filter((row) => !openKey(secret, labels, row)).length;
  }
  return lost;
}

function openKey(
  secret: SecretKeys,
  labels: readonly ((accountId: number) => string)[],
  { account_id, sealed }: WrappedKey,
): { label: string; key: Buffer } | null {
  for (const labelOf of labels) {
    const label = labelOf(account_id);
    const key = unwrap(secret, label, sealed);
    if (key) return { label, key };
  }
  return null;
}

/** Whether the store holds wrapped keys and the given ones open none of them: they are then another store's. */
export async function isOfOtherStore(owner: pg.Pool, secret: SecretKeys): Promise<boolean> {
  let held = false;
  for (const { table, labels } of TABLES) {
    const { rows } = await owner.query<WrappedKey>(`select account_id, sealed from ${table}`);
    if (rows.some((row) => openKey(secret, labels, row))) return false;
    held ||= rows.length > 0;
  }
  return held;
}

/** A wrapped key that none opens. */
class LostKeyError extends Error {
  constructor(accountId: number) {
    super(
      `No key of DBVITALS_SECRET_KEY opens what is wrapped for account ${accountId}, and nothing was changed: add the key that it was wrapped with, or see docs/secrets.md if it is lost.`,
    );
  }
}
