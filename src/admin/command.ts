import { type Command, Option } from 'commander';
import type pg from 'pg';

/** Wrong usage: one sentence that says what to do. The program ends with 2; with 1 for every other error. */
export class UsageError extends Error {}

/** Which connection of which account. */
interface ConnectionKey {
  accountId: number;
  connectionId: number;
}

/** A stored health check, as endpoint 2 shows it: worst finding first. */
export interface CheckResult {
  id: number;
  score: number;
  summary_text: string;
  created_at: string;
  checks: readonly {
    check_id: string;
    category: string;
    status: string;
    title: string;
    metric_line: string;
    remediation: string;
    severity: string;
  }[];
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

/** The checks that are shipped, and how a run is scored and summed up. */
export interface Catalogue {
  checks: readonly { id: string; title: string; category: string; worst: RunFinding['severity'] }[];
  score(outcomes: readonly RunOutcome[]): number;
  summaryText(outcomes: readonly RunOutcome[]): string;
}

/** What the commands need of the store and of the folders that admin/ may not import; main.ts hands it in. */
export interface CommandContext {
  /** Opens the store for as long as `work` takes. The owner's pool is for what the writer may not do. */
  withStore<T>(work: (writer: pg.Pool, openOwner: () => pg.Pool) => Promise<T>): Promise<T>;
  /** Brings the schema up to date; names of the migrations applied. */
  migrate(): Promise<string[]>;
  /** Seals a connection's password under the account's own key, inside the caller's transaction. */
  sealPassword(client: pg.ClientBase, connection: ConnectionKey, password: string): Promise<Buffer>;
  /** Runs a health check now and stores it. */
  runHealthCheck(writer: pg.Pool, connection: ConnectionKey): Promise<CheckResult>;
  /** Runs the health checks that are due until the signal comes, then lets those under way end. */
  monitor(writer: pg.Pool, until: AbortSignal): Promise<void>;
  /** What sample data is made of. */
  loadCatalogue(): Promise<Catalogue>;
}

/** Adds a command that takes `--json`. */
export function addCommand(parent: Command, nameAndArguments: string, description: string): Command {
  return parent
    .command(nameAndArguments)
    .description(description)
    .addOption(new Option('--json', 'print one JSON value and nothing else'));
}
