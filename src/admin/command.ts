import { type Command, Option } from 'commander';
import type pg from 'pg';
import type { DatabaseAddress } from './connection-url.ts';

/** Wrong usage: one sentence that says what to do. The program ends with 2; with 1 for every other error. */
export class UsageError extends Error {}

/** Which connection of which account. */
interface ConnectionKey {
  accountId: number;
  connectionId: number;
  /** What is sealed for it, where it is not the password. */
  of?: 'ssh key';
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
  databases: number;
  checks: { done: number; all: number };
}

/** A database that is checked once, without the store. */
interface OnceTarget extends DatabaseAddress {
  tls: 'verify-full' | 'require' | 'disable';
  /** PEM; null = the system's own authorities alone. */
  caCertificate: string | null;
  thresholds: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** A finding as a health check stores it. */
export interface RunFinding {
  check_id: string;
  category: string;
  status: 'ok' | 'info' | 'warning' | 'critical';
  title: string;
  metric_line: string;
  remediation: string;
  severity: 'info' | 'warning' | 'critical';
  database: string;
  object: string | null;
}

/** What a run that measured everything found out about a check. */
export interface RunOutcome {
  check: Catalogue['checks'][number];
  findings: RunFinding[];
  whole: true;
  unmeasured: never[];
}

/** The checks that are shipped with their thresholds, and how a run is scored and summed up. */
export interface Catalogue {
  checks: readonly {
    id: string;
    title: string;
    category: string;
    worst: RunFinding['severity'];
    /** Name to default of what a connection may set otherwise. */
    thresholds?: Readonly<Record<string, number>>;
  }[];
  score(outcomes: readonly RunOutcome[]): number;
  summaryText(outcomes: readonly RunOutcome[]): string;
}

/** What the commands need of the store and of the folders that admin/ may not import; main.ts hands it in. */
export interface CommandContext {
  /** Opens the store for as long as `work` takes. The owner's pool is for what the writer may not do. */
  withStore<T>(work: (writer: pg.Pool, openOwner: () => pg.Pool) => Promise<T>): Promise<T>;
  /** The key that the API of a service is called with. */
  apiKey(): string;
  /** Brings the schema up to date; names of the migrations applied. */
  migrate(): Promise<string[]>;
  /** Seals a connection's password under the account's own key, inside the caller's transaction. */
  sealPassword(client: pg.ClientBase, connection: ConnectionKey, password: string): Promise<Buffer>;
  /** Runs a health check now and stores it; `show` hears how far it has come. */
  runHealthCheck(
    writer: pg.Pool,
    connection: ConnectionKey,
    show: (progress: Progress) => void,
  ): Promise<CheckResult>;
  /** Runs a health check of any database and stores nothing: there need be no store. */
  checkOnce(target: OnceTarget, show: (progress: Progress) => void): Promise<CheckedOnce>;
  /**
   * Runs the health checks that are due, `concurrency` at a time, and removes as the owner what is past its time, until
   * the signal comes; lets what is under way end.
   */
  monitor(writer: pg.Pool, owner: pg.Pool, concurrency: number, until: AbortSignal): Promise<void>;
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
