import { createHash, type Hash, type KeyObject, sign } from 'node:crypto';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type pg from 'pg';
import { within } from '../../store/read.ts';
import {
  type CanonicalEntry,
  canonicalJson,
  entriesBetween,
  entryText,
  instant,
} from '../canonical-entry.ts';
import { csvHeader, csvRow } from '../csv-entry.ts';
import { publicKeyOf } from './seal.ts';
import { sealLine } from './seal-line.ts';
import { storedSeal } from './stored-seals.ts';
import {
  ENTRIES,
  ENTRIES_CSV,
  EXPORT_FORMAT,
  MANIFEST,
  PUBLIC_KEY,
  SEALS,
  SIGNATURE,
} from './verify-export.ts';

const ENTRIES_A_READ = 1_000;

const chosenIds = `
  select greatest(case when $2::timestamptz is null then 1 else activity_id_at($1, $2) end, f.first_id) as first_id,
         least(case when $3::timestamptz is null then h.last_id else activity_id_at($1, $3) - 1 end, s.last_id) as last_id,
         ${instant('clock_timestamp()')} as made_at
    from activity_head h,
         lateral (select coalesce(max(first_id), 1) as first_id from activity_floor where account_id = $1) f,
         lateral (select coalesce(max(last_id), 0) as last_id from activity_seal where account_id = $1) s
   where h.account_id = $1`;

const sealNumbers = `
  select number from activity_seal
   where account_id = $1 and last_id >= $2 and first_id <= $3
   order by number`;

/** What to export. */
export interface Export {
  accountId: number;
  /** As the user gave them; null = from the start, or to the end. */
  from: string | null;
  to: string | null;
  /** The same range in PostgreSQL's format: from `since` up to, but excluding, `before`. */
  since: string | null;
  before: string | null;
  format: 'ndjson' | 'csv';
}

/**
 * Writes the sealed entries of a time range into the new folder `draft`, with their seals, the public key and a
 * signed manifest. `client` must read in one snapshot. `keys` are the account's; the first one signs.
 */
export async function writeExport(
  client: pg.ClientBase,
  { accountId, from, to, since, before, format }: Export,
  keys: ReadonlyMap<string, KeyObject>,
  draft: string,
): Promise<{ first_id: number; last_id: number }> {
  const [[publicKey, privateKey] = []] = keys;
  const key = publicKey === undefined ? null : publicKeyOf(publicKey);
  if (!privateKey || !key) throw new Error(`Account ${accountId} has no signing key.`);
  const chosen = await client.query<{ first_id: number; last_id: number; made_at: string }>(chosenIds, [
    accountId,
    since,
    before,
  ]);
  if (!chosen.rows[0]) throw new Error(`There is no account ${accountId}.`);
  const { first_id, last_id, made_at } = chosen.rows[0];

  const files: Record<string, string> = {};
  const entries = await openHashed(join(draft, ENTRIES));
  const csv = format === 'csv' ? await openHashed(join(draft, ENTRIES_CSV)) : null;
  await csv?.write(csvHeader);
  for (let first = first_id; first <= last_id; first += ENTRIES_A_READ) {
    const last = Math.min(first + ENTRIES_A_READ - 1, last_id);
    const { rows } = await client.query<CanonicalEntry>(entriesBetween, [accountId, first, last]);
    await entries.write(rows.map((entry) => `${entryText(entry)}\n`).join(''));
    await csv?.write(rows.map(csvRow).join(''));
  }
  files[ENTRIES] = await entries.close();
  if (csv) files[ENTRIES_CSV] = await csv.close();

  const seals = await openHashed(join(draft, SEALS));
  const numbers = await client.query<{ number: number }>(sealNumbers, [accountId, first_id, last_id]);
  for (const { number } of first_id <= last_id ? numbers.rows : []) {
    const sealed = await storedSeal(within(client), accountId, number);
    if (sealed) await seals.write(sealLine(sealed));
  }
  files[SEALS] = await seals.close();

  await writeFile(join(draft, PUBLIC_KEY), key.export({ format: 'pem', type: 'spki' }));
  const manifest = canonicalJson({
    format: EXPORT_FORMAT,
    account_id: accountId,
    from,
    to,
    first_id,
    last_id,
    made_at,
    files,
    public_keys: [...keys.keys()],
  });
  await writeFile(join(draft, MANIFEST), manifest);
  await writeFile(join(draft, SIGNATURE), sign(null, Buffer.from(manifest), privateKey));
  return { first_id, last_id };
}

/** Opens a file for sequential writing. `close` returns its SHA-256 in hexadecimal, once it is on disk. */
async function openHashed(path: string) {
  const file = await open(path, 'wx');
  const sha256: Hash = createHash('sha256');
  return {
    async write(text: string): Promise<void> {
      sha256.update(text);
      await file.appendFile(text);
    },
    async close(): Promise<string> {
      await file.datasync();
      await file.close();
      return sha256.digest('hex');
    },
  };
}

/**
 * Runs `work` on a new folder beside `folder`, then renames it to `folder` in one step. So `folder` is never
 * incomplete, whatever happens. Throws if `folder` already exists.
 */
export async function inDraft<T>(folder: string, work: (draft: string) => Promise<T>): Promise<T> {
  const draft = `${folder}.${process.pid}.part`;
  await mkdir(dirname(folder), { recursive: true });
  await mkdir(draft, { mode: 0o700 });
  try {
    const result = await work(draft);
    // `rename` would silently replace an empty folder.
    await mkdir(folder, { mode: 0o700 });
    await rename(draft, folder);
    return result;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
