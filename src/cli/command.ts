import type { Readable, Writable } from 'node:stream';
import { type Command, Option } from 'commander';
import type pg from 'pg';
import type { DatabaseAddress } from '../connections/connection-url.ts';
import type { SecretKeys } from '../database/encryption.ts';
import type { Diagnosis } from '../doctor/diagnosis.ts';
import type { Severity } from '../vocabulary/severities.ts';
import type { TlsMode } from '../vocabulary/tls-modes.ts';
import type { OwnPlaces } from './guarded-file.ts';

/** Wrong usage: one sentence that says what to do. The program ends with 2; with 1 for every other error. */
export class UsageError extends Error {}

/** Which connection of which account. */
interface ConnectionKey {
  accountId: number;
  connectionId: number;
}

/** A health check: worst finding first. */
export interface CheckedOnce {
  score: number;
  summary_text: string;
  checks: readonly {
    check_id: string;
    category: string;
    status: string;
    title: string;
    metric_line: string;
    remediation: string;
    severity: string;
  }[];
  /** Of the watched server. */
  cost: { milliseconds: number; statements: number; bytes: number };
}

/** A stored health check: but for its cost as endpoint 2 shows it. */
interface CheckResult extends CheckedOnce {
  id: number;
  created_at: string;
}

/** How far a run has come. */
export interface Progress {
  /** Which one it is at, from 1. */
  database: { name: string; number: number };
  /** 0 of an engine whose session sees them all. */
  databases: number;
  checks: { done: number; all: number };
}

/** A database that is checked once, without the store. */
interface OnceTarget extends DatabaseAddress {
  tls: TlsMode;
  /** PEM; null = the system's own authorities alone. */
  caCertificate: string | null;
  thresholds: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** A finding as a health check stores it. */
export interface RunFinding {
  check_id: string;
  category: string;
  status: 'ok' | Severity;
  title: string;
  metric_line: string;
  remediation: string;
  severity: Severity;
  database: string;
  object: string | null;
}

/** What a run that measured everything found out about a check. */
export interface RunOutcome {
  check: Catalogue['checks'][number];
  findings: RunFinding[];
  measured: true;
  unmeasured: never[];
}

/** The checks that are shipped with their thresholds, and how a run is scored and summed up. */
export interface Catalogue {
  checks: readonly {
    id: string;
    title: string;
    category: string;
    maxSeverity: RunFinding['severity'];
    /** Name to default of what a connection may set otherwise. */
    thresholds?: Readonly<Record<string, number>>;
  }[];
  score(outcomes: readonly RunOutcome[]): number;
  summaryText(outcomes: readonly RunOutcome[]): string;
}

/** Whether a log is as it was sealed. */
export type Verdict =
  | {
      verified: true;
      account_id: number;
      /** The first entry that is there. */
      first_id: number;
      /** The last entry that is sealed. */
      last_id: number;
      /** Retention was allowed to cut the entries up to this one. */
      cut_to: number;
      seals: number;
      sealed_at: string | null;
      /** How many later entries no seal holds yet. */
      unsealed: number;
      /** Entries that were sealed more than an hour after they happened, or are not yet although they are older. */
      late: {
        first_id: number;
        last_id: number;
        occurred_at: string;
        sealed_at: string | null;
        sample: boolean;
      }[];
      /** The keys that signed, hexadecimal. */
      public_keys: string[];
    }
  | { verified: false; account_id: number; first_bad_id: number; how: string; message: string }
  /** Nothing could be told: the secret key is not the one of this store. */
  | { verified: null; account_id: number; message: string };

/** A range of time: as it was given, and as PostgreSQL reads it. */
interface Range {
  from: string | null;
  to: string | null;
  since: string | null;
  before: string | null;
}

/** What the commands do with seals. */
export interface AuditProof {
  /** Seals what is new, in every account unless one is named, and appends the seals to DBVITALS_SEAL_FILE. */
  seal(owner: pg.Pool, accountId?: number): Promise<{ seals: number; entries: number }>;
  /** The key that the account's seals are signed with, hexadecimal; made if there is none yet. */
  publicKey(owner: pg.Pool, accountId: number): Promise<string>;
  /**
   * Compares the store's log with its seals and those of a file. They must be signed with one of `publicKeys` (hexadecimal), or
   * where that is null with a key of the store that the secret key opens.
   */
  verify(
    writer: pg.Pool,
    owner: pg.Pool,
    accountId: number,
    how: { sealFile: string | null; publicKeys: readonly string[] | null },
  ): Promise<Verdict>;
  /** Verifies a folder that `export` made; null = by the key that it brings along. */
  verifyExport(folder: string, publicKeys: readonly string[] | null): Promise<Verdict>;
  /** A sentence that says what is wrong, where something is. */
  parseRange(from: string | undefined, to: string | undefined): Range | string;
  /** Seals, then writes sealed entries to a folder that is not there yet, whole or not at all; which ones. */
  export(
    writer: pg.Pool,
    owner: pg.Pool,
    wanted: Range & { accountId: number; format: 'ndjson' | 'csv' },
    folder: string,
  ): Promise<{ first_id: number; last_id: number }>;
}

/** A backup that was made, and of its file the size and the SHA-256, hexadecimal. */
export interface StoreBackup {
  made_at: string;
  migration: string;
  tables: number;
  rows: number;
  bytes: number;
  sha256: string;
  /** Which store it is of, in words. */
  store: string;
  /** Where the store's secret key is. */
  secret_at: string;
}

/** A backup that was restored. */
interface Restored {
  /** The version of dbvitals that made it, and when. */
  dbvitals: string;
  made_at: string;
  tables: string[];
  rows: number;
  /** Migrations that were applied to it. */
  applied: string[];
  /** null = they can't be verified without the secret key. */
  seals: { verified: number; broken: string[] } | null;
}

/** What the commands need of the store and of the folders that admin/ may not import; main.ts hands it in. */
export interface CommandContext {
  /** Opens the store for as long as `work` takes. The owner's pool is for what the writer may not do. */
  withStore<T>(work: (writer: pg.Pool, openOwner: () => pg.Pool) => Promise<T>): Promise<T>;
  /** The key that the API of a service is called with. */
  apiKey(): string;
  /** Where browsers reach the service of these settings, such as `http://127.0.0.1:8080`. */
  consoleUrl(): string;
  /** Brings the schema up to date; names of the migrations applied. */
  migrate(): Promise<string[]>;
  /** The migrations that the store lacks, in order; nothing is changed. */
  planMigrations(): Promise<{ name: string; what: string; seconds: number; rows: Record<string, number> }[]>;
  /** Looks at settings, machine, store and service, and changes nothing; wrong settings are told, not thrown. */
  diagnose(): Promise<Diagnosis[]>;
  /** Copies the store into a file or stream. */
  backUp(target: string | Writable): Promise<StoreBackup>;
  /** Copies it into a new file of the folder, which is made where it is missing, reads that back, and keeps the newest `keep`. */
  backUpIntoFolder(folder: string, keep: number): Promise<StoreBackup & { file: string; removed: string[] }>;
  /**
   * Fills an empty store from a backup and verifies the seals; with `lostSecret` even if the secret key decrypts nothing, with
   * `unsigned` even if it did not sign the backup.
   */
  restore(file: string | Readable, how: { lostSecret: boolean; unsigned: boolean }): Promise<Restored>;
  /** The keys of DBVITALS_SECRET_KEY, for what is stored encrypted; call it before a connection is added or changed. */
  openSecret(writer: pg.Pool): Promise<SecretKeys>;
  /** The environment with what a `.env` adds, the data folder, and the folder of DBVITALS_SECRETS_DIR; null = not set. */
  ownPlaces(): OwnPlaces & { secretsDir: string | null };
  /**
   * Encrypts every key in the store with the first key of DBVITALS_SECRET_KEY, as the owner, and counts them. Throws if no
   * key decrypts one of them; `forgetLost` removes lost credential keys instead.
   */
  rotateSecretKey(
    owner: pg.Pool,
    forgetLost: boolean,
  ): Promise<{ rewrapped: number; unchanged: number; forgotten: number }>;
  /** Runs a health check now and stores it; `show` hears how far it has come. */
  runHealthCheck(
    writer: pg.Pool,
    connection: ConnectionKey,
    show: (progress: Progress) => void,
  ): Promise<CheckResult>;
  /** Runs a health check of any database and stores nothing: there need be no store. */
  checkOnce(target: OnceTarget, show: (progress: Progress) => void): Promise<CheckedOnce>;
  /**
   * Runs the health checks that are due, `concurrency` at a time, and as the owner seals the logs and removes what is past its
   * time, until the signal comes; lets what is under way end.
   */
  monitor(writer: pg.Pool, openOwner: () => pg.Pool, concurrency: number, until: AbortSignal): Promise<void>;
  /** What `activity seal`, `verify` and `export` go by. */
  loadAuditProof(): Promise<AuditProof>;
  /** What thresholds, silences and sample data go by. */
  loadCatalogue(): Promise<Catalogue>;
}

/** Adds a command that takes `--json`. */
export function addCommand(parent: Command, nameAndArguments: string, description: string): Command {
  return parent
    .command(nameAndArguments)
    .description(description)
    .addOption(new Option('--json', 'print one JSON value and nothing else'));
}
