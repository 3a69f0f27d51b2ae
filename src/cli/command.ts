import type { Readable } from 'node:stream';
import { type Command, Option } from 'commander';
import type pg from 'pg';
import type { Check, Outcome } from '../checks/check.ts';
import type { OwnCheck } from '../checks/own/own-check.ts';
import type { DatabaseAddress } from '../connections/connection-url.ts';
import type { RotatedKeys } from '../connections/rotate-secret-key.ts';
import type { ConnectionKey } from '../monitor/monitor-deps.ts';
import type { OwnTrial, TriedCheck } from '../monitor/own-checks/try-own-check.ts';
import type { Progress } from '../monitor/progress.ts';
import type { LiveLook } from '../monitor/pulse/live-look.ts';
import type { StoredCheck } from '../monitor/store-run.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import type { MetricSettings } from '../platform/telemetry/metric-settings.ts';
import type { CheckedBackup } from '../store/backup/check-backup.ts';
import type { MoveParts } from '../store/directory/move/places.ts';
import type { FromReachable } from '../store/directory/reachable-cells.ts';
import type { PlannedMigration } from '../store/plan-migrations.ts';
import type { TlsMode } from '../vocabulary/tls-modes.ts';
import type { AuditProof } from './audit-proof.ts';
import type { Diagnosis } from './doctor/diagnosis.ts';
import type { OwnPlaces } from './guarded-file.ts';
import type { BackupTarget, EachBackup, WrittenBackup } from './store/back-up-store.ts';
import type { Restored } from './store/restore-store.ts';

/** A health check as `check run` prints it: the worst finding first. */
export type CheckedOnce = Pick<StoredCheck, 'score' | 'summary_text' | 'checks' | 'cost'>;

/** A database to check once, without a store. */
interface OnceTarget extends DatabaseAddress {
  tls: TlsMode;
  /** Whether the password may be sent in clear text or as MD5. */
  passwordExposable: boolean;
  /** PEM; null = only the system's certificate authorities. */
  caCertificate: string | null;
  thresholds: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Checks of its engine that a member wrote. */
  own: readonly OwnCheck[];
}

/** A check as commands list it; those of availability have no statement. */
export type ListedCheck = Outcome['check'] & Pick<Check, 'thresholds'>;

/** Every check, and how a run is scored and summed up. */
export interface Catalogue {
  checks: readonly ListedCheck[];
  score(outcomes: readonly Outcome[]): number;
  summaryText(outcomes: readonly Outcome[]): string;
}

/** What a command does with an open store. `cellId` is null if there is only one store. */
export type StoreWork<T> = (writer: pg.Pool, openOwner: () => pg.Pool, cellId: number | null) => Promise<T>;

/** The functions that main.ts provides to commands: settings, store, and parts that only some commands load. */
export interface CommandContext {
  /**
   * Opens the store while `work` runs: of several cells that of the command's account, or the one of `--cell`. The owner's
   * pool is for operations that the writer may not do.
   */
  withStore<T>(work: StoreWork<T>): Promise<T>;
  /** {@link withStore} in one cell after the other, if the command names no account. `cellId` is null if there is one store. */
  withEachStore<T>(work: StoreWork<T>): Promise<T[]>;
  /** {@link withEachStore}, but passes over cells that are down, and says which accounts live there. */
  withReachableStores<T>(work: StoreWork<T>): Promise<FromReachable<T>>;
  /** {@link withStore} in the cell that gets new accounts: that of `--cell`, else the emptiest that accepts them. */
  withStoreForNew<T>(work: StoreWork<T>): Promise<T>;
  /** Opens the store while `work` runs, as the console's role: it only reads, and one account at a time. */
  withConsoleRole<T>(work: (reader: pg.Pool) => Promise<T>): Promise<T>;
  /** Opens the control store while `work` runs, to move accounts between cells. Throws if there are no cells. */
  withCells<T>(work: (cells: Omit<MoveParts, 'step'>) => Promise<T>): Promise<T>;
  /** The API key for calls to a service. */
  apiKey(): string;
  /** When measured values are sent to an OpenTelemetry collector; null = none is set. */
  metricSettings(): MetricSettings | null;
  /** The console's URL according to the settings, such as `http://127.0.0.1:8080`. */
  consoleUrl(): string;
  /** Updates the schema. Returns the names of the applied migrations. */
  migrate(): Promise<string[]>;
  /** The pending migrations, in order. Changes nothing. */
  planMigrations(): Promise<PlannedMigration[]>;
  /** Checks settings, machine, store and service, and changes nothing. Reports wrong settings instead of throwing. */
  diagnose(): Promise<Diagnosis[]>;
  /** Backs up the store. Into a folder: verifies the file, and keeps the newest of this store. Creates the folder if needed. */
  backUp(to: BackupTarget): Promise<WrittenBackup>;
  /** {@link backUp} of every store of the settings. */
  backUpEach(to: BackupTarget): Promise<EachBackup>;
  /** Reads a backup to its end, and checks its signature unless `unsigned`. Changes nothing. */
  verifyBackup(file: string | Readable, how: { unsigned: boolean }): Promise<CheckedBackup>;
  /**
   * Restores a backup into an empty store and verifies the seals. `lostSecret` accepts a secret key that decrypts nothing;
   * `unsigned` accepts a backup that the secret key did not sign.
   */
  restore(file: string | Readable, how: { lostSecret: boolean; unsigned: boolean }): Promise<Restored>;
  /**
   * The keys of DBVITALS_SECRET_KEY. Call it before something is stored that they encrypt. Throws a sentence if they are those
   * of another store: what they would encrypt, no service could decrypt.
   */
  openSecret(writer: pg.Pool, openOwner: () => pg.Pool): Promise<SecretKeys>;
  /** DBVITALS_ALLOW_PRIVATE_DESTINATIONS: whether notifications may be sent to private addresses. */
  allowsPrivateDestinations(): boolean;
  /** The names of the operator's commands that print tokens. */
  tokenSources(): string[];
  /** The environment including `.env`, the data folder, and the folder of DBVITALS_SECRETS_DIR; null = not set. */
  ownPlaces(): OwnPlaces & { secretsDir: string | null };
  /**
   * Encrypts every key in the store with the first key of DBVITALS_SECRET_KEY, as the owner, and counts them. Throws if no
   * key decrypts one of them; `forgetLost` removes lost credential keys instead.
   */
  rotateSecretKey(owner: pg.Pool, forgetLost: boolean): Promise<RotatedKeys>;
  /** Runs a health check now and stores it. Reports progress to `show`. */
  runHealthCheck(
    writer: pg.Pool,
    connection: ConnectionKey,
    show: (progress: Progress) => void,
  ): Promise<StoredCheck>;
  /** Runs a statement for an own check once on a connection, and stores no result. */
  tryOwnCheck(writer: pg.Pool, connection: ConnectionKey, tried: TriedCheck): Promise<OwnTrial>;
  /** Looks at a connection's server now, as its pulses do, while `work` runs. */
  lookAt<T>(
    writer: pg.Pool,
    connection: ConnectionKey,
    work: (look: LiveLook['look']) => Promise<T>,
  ): Promise<T>;
  /** Runs a health check of any database without using a store. */
  checkOnce(target: OnceTarget, show: (progress: Progress) => void): Promise<CheckedOnce>;
  /**
   * Runs due health checks of every cell, `concurrency` of each at a time, until the signal. As the owner it also seals the
   * logs and removes expired data. Waits for running health checks before it returns.
   */
  monitor(concurrency: number, until: AbortSignal): Promise<void>;
  /** Loads the operations of `activity seal`, `verify` and `export`. */
  loadAuditProof(): Promise<AuditProof>;
  /** Loads the checks for thresholds, silences and sample data. */
  loadCatalogue(): Promise<Catalogue>;
}

/** Adds a command that takes `--json`. */
export function addCommand(parent: Command, nameAndArguments: string, description: string): Command {
  return parent
    .command(nameAndArguments)
    .description(description)
    .addOption(new Option('--json', 'print one JSON value and nothing else'));
}
