import type { Readable, Writable } from 'node:stream';
import { type Command, Option } from 'commander';
import type pg from 'pg';
import type { Broken, Verified } from '../activity/seals/verify-log.ts';
import type { Check, Outcome } from '../checks/check.ts';
import type { DatabaseAddress } from '../connections/connection-url.ts';
import type { RotatedKeys } from '../connections/rotate-secret-key.ts';
import type { MadeBackup } from '../database/backup/backup.ts';
import type { SecretKeys } from '../database/encryption.ts';
import type { PlannedMigration } from '../database/plan-migrations.ts';
import type { Diagnosis } from '../doctor/diagnosis.ts';
import type { Progress } from '../monitor/progress.ts';
import type { ConnectionKey, StoredCheck } from '../monitor/run.ts';
import type { TlsMode } from '../vocabulary/tls-modes.ts';
import type { AuditProof } from './audit-proof.ts';
import type { OwnPlaces } from './guarded-file.ts';
import type { Restored } from './restore-store.ts';

/** Wrong usage: one sentence that says what to do. The program ends with 2; with 1 for every other error. */
export class UsageError extends Error {}

/** A health check as `check run` prints it: the worst finding first. */
export type CheckedOnce = Pick<StoredCheck, 'score' | 'summary_text' | 'checks' | 'cost'>;

/** A database that is checked once, without the store. */
interface OnceTarget extends DatabaseAddress {
  tls: TlsMode;
  /** PEM; null = the system's own authorities alone. */
  caCertificate: string | null;
  thresholds: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** A check as commands list it; those of availability have no statement. */
export type ListedCheck = Outcome['check'] & Pick<Check, 'thresholds'>;

/** Every check, and how a run is scored and summed up. */
export interface Catalogue {
  checks: readonly ListedCheck[];
  score(outcomes: readonly Outcome[]): number;
  summaryText(outcomes: readonly Outcome[]): string;
}

/** Whether a log is as it was sealed; `verified` is null when that can't be said, for the secret key is another store's. */
export type Verdict = Verified | Broken | { verified: null; account_id: number; message: string };

/** A backup that was made. */
export interface StoreBackup extends MadeBackup {
  /** Which store it is of, in words. */
  store: string;
  /** Where the store's secret key is. */
  secret_at: string;
}

/** What main.ts gives the commands: the settings, the store, and what only some commands load. */
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
  planMigrations(): Promise<PlannedMigration[]>;
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
  rotateSecretKey(owner: pg.Pool, forgetLost: boolean): Promise<RotatedKeys>;
  /** Runs a health check now and stores it; `show` hears how far it has come. */
  runHealthCheck(
    writer: pg.Pool,
    connection: ConnectionKey,
    show: (progress: Progress) => void,
  ): Promise<StoredCheck>;
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
