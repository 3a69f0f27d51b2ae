import { resolve } from 'node:path';
import type pg from 'pg';
import { type Export, inDraft, writeExport } from '../activity/seals/export-log.ts';
import { sealEntries } from '../activity/seals/record-seals.ts';
import { openSealFile } from '../activity/seals/seal-file.ts';
import { ensureSealKeys, openSealKeys, requireSealKeys } from '../activity/seals/seal-key.ts';
import { storedSeals } from '../activity/seals/stored-seals.ts';
import {
  type DeliveredBroken,
  type DeliveredLog,
  type DeliveredVerified,
  verifyDelivered,
} from '../activity/seals/verify-delivered.ts';
import { verifyExport } from '../activity/seals/verify-export.ts';
import type { Broken, Verified } from '../activity/seals/verify-log.ts';
import { fileSeals, verifyStore } from '../activity/seals/verify-store.ts';
import type { Config } from '../config/config.ts';
import { secretKeys } from '../config/secret-key.ts';
import { isOfOtherStore, WrongSecretKey } from '../connections/rotate-secret-key.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import { dateRange, type PointOfTime, parseDate } from '../platform/text/date-range.ts';
import { inTransaction } from '../store/connect.ts';
import { within } from '../store/read.ts';

/** A time range, as entered and as PostgreSQL reads it. */
type Range = Omit<Export, 'accountId' | 'format'>;

const OTHER_STORE =
  "The secret key does not belong to this store: it decrypts no signing key and no password, so nothing was verified. Use the store's own key; if every key in the store may have been altered, verify with --public-key.";

/** The commands' functions for seals. */
export type AuditProof = ReturnType<typeof auditProof>;

/** The secret key to sign with. A signing key that another store's key encrypted would be lost to every service. */
async function signingSecret(config: Config, owner: pg.Pool): Promise<SecretKeys> {
  const secret = secretKeys(config);
  if (await isOfOtherStore(owner, secret)) throw new WrongSecretKey();
  return secret;
}

/** Seals new entries of one account or all accounts, and appends the seals to DBVITALS_SEAL_FILE. */
async function sealNew(
  config: Config,
  owner: pg.Pool,
  accountId?: number,
): Promise<{ seals: number; entries: number }> {
  const { activityDays, sealFile } = config;
  const made = { seals: 0, entries: 0 };
  const secret = await signingSecret(config, owner);
  for await (const { first_id, last_id } of sealEntries({ owner, secret, activityDays }, accountId)) {
    made.seals += 1;
    made.entries += last_id - first_id + 1;
  }
  const mismatched = sealFile === null ? [] : await openSealFile(sealFile).append(owner);
  if (mismatched.length === 0) return made;
  throw new Error(
    `The seals of account ${mismatched.join(', ')} differ from DBVITALS_SEAL_FILE: run "activity verify --seal-file" with that file.`,
  );
}

/** Makes the commands' functions for seals. Only those that need the secret key load it. */
export function auditProof(config: Config) {
  const seal = (owner: pg.Pool, accountId?: number) => sealNew(config, owner, accountId);
  return {
    seal,
    /** The public key that verifies the account's seals, hexadecimal. Created if there is none yet. */
    async publicKey(owner: pg.Pool, accountId: number): Promise<string> {
      const secret = await signingSecret(config, owner);
      const keys = await inTransaction(owner, (client) => ensureSealKeys(client, secret, accountId));
      return [...keys.keys()][0] ?? '';
    },
    /**
     * Compares the store's log with its seals and those of a file. They must be signed with one of `publicKeys` (hexadecimal), or
     * if that is null with a key of the store that the secret key decrypts.
     */
    async verify(
      writer: pg.Pool,
      owner: pg.Pool,
      accountId: number,
      { sealFile: file, publicKeys }: { sealFile: string | null; publicKeys: readonly string[] | null },
    ): Promise<Verdict> {
      const trusted = await trustedKeys(config, owner, accountId, publicKeys);
      if (trusted === null) return { verified: null, account_id: accountId, message: OTHER_STORE };
      return inTransaction(writer, async (client) => {
        await client.query('set transaction isolation level repeatable read read only');
        return verifyStore(within(client), accountId, trusted, file);
      });
    },
    /** Verifies a folder that `export` made; null = by the key in the folder. */
    verifyExport: (folder: string, publicKeys: readonly string[] | null): Promise<Verdict> =>
      verifyExport(folder, publicKeys),
    ...deliveredProof(config),
    parseRange,
    /** Seals, then writes sealed entries to a new folder, completely or not at all; returns the first and last id. */
    async export(
      writer: pg.Pool,
      owner: pg.Pool,
      wanted: Export,
      folder: string,
    ): Promise<{ first_id: number; last_id: number }> {
      await seal(owner, wanted.accountId);
      const keys = await requireSealKeys(owner, secretKeys(config), wanted.accountId);
      return inDraft(resolve(folder), async (draft) => {
        const written = await inTransaction(writer, async (client) => {
          await client.query('set transaction isolation level repeatable read read only');
          return writeExport(client, wanted, keys, draft);
        });
        const verdict = await verifyExport(draft, null);
        if (!verdict.verified) throw new Error(`Nothing was exported: ${verdict.message}`);
        return written;
      });
    },
  };
}

/** The range that `--from` and `--to` name, or a sentence that says what is wrong with them. */
function parseRange(from: string | undefined, to: string | undefined): Range | string {
  const points = new Map<string, PointOfTime>();
  for (const [name, text] of Object.entries({ '--from': from, '--to': to })) {
    if (text === undefined) continue;
    const point = parseDate(text);
    if (point) points.set(name, point);
    else return `${name} must be a date such as 2026-01-31, or a date-time such as 2026-01-31T23:59:59Z.`;
  }
  const range = dateRange(points.get('--from'), points.get('--to'), 'microsecond');
  return range ? { from: from ?? null, to: to ?? null, ...range } : '--from must not be later than --to.';
}

/** The functions for batches that a log stream delivered. */
function deliveredProof(config: Config) {
  return {
    /** Verifies delivered batches by a file of seals; `publicKeys` null = by the keys in the file. */
    verifyDelivered: (log: DeliveredLog, sealFile: string, publicKeys: readonly string[] | null) =>
      verifyDelivered(log, async (accountId) => ({
        seals: fileSeals(sealFile, accountId),
        trusts: (key) => publicKeys?.includes(key) ?? true,
      })),
    /** Verifies delivered batches by the store's seals; `publicKeys` null = by the keys that the secret key decrypts. */
    async verifyDeliveredByStore(
      writer: pg.Pool,
      owner: pg.Pool,
      log: DeliveredLog,
      publicKeys: readonly string[] | null,
    ): Promise<Verdict> {
      let otherStore: Verdict | null = null;
      const verdict = await inTransaction(writer, async (client) => {
        await client.query('set transaction isolation level repeatable read read only');
        return verifyDelivered(log, async (accountId) => {
          const keys = await trustedKeys(config, owner, accountId, publicKeys);
          if (keys === null) otherStore = { verified: null, account_id: accountId, message: OTHER_STORE };
          return { seals: storedSeals(within(client), accountId), trusts: (key) => keys?.has(key) ?? false };
        });
      });
      return otherStore ?? verdict;
    },
  };
}

/** The keys that may have signed; null = the secret key is of another store, and none was given. */
async function trustedKeys(
  config: Config,
  owner: pg.Pool,
  accountId: number,
  publicKeys: readonly string[] | null,
): Promise<Set<string> | null> {
  const trusted = new Set(publicKeys ?? (await openSealKeys(owner, secretKeys(config), accountId)).keys());
  return trusted.size === 0 && (await isOfOtherStore(owner, secretKeys(config))) ? null : trusted;
}

/** Whether a log matches its seals. `verified` is null when the secret key does not belong to this store. */
export type Verdict =
  | Verified
  | DeliveredVerified
  | Broken
  | DeliveredBroken
  | { verified: null; account_id: number; message: string };
