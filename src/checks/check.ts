import type { Provider } from '../vocabulary/hosted/providers.ts';
import type { FindingStatus, Severity } from '../vocabulary/severities.ts';
import type { Fault, Row } from './fault.ts';
import type { AdviceItem, IndexPlan } from './index-plan.ts';
import type { FaultMeasure, Measure } from './measure.ts';
import type { ServerLimit } from './pgbouncer/server-limit.ts';
import type { QueryFacts } from './queries/query-facts.ts';

/** The data groups of findings (`category`), as the catalogue names them. */
export type Category =
  | 'availability'
  | 'configuration'
  | 'connections'
  | 'durability'
  | 'indexes'
  | 'locks'
  // Checks that members write.
  | 'own'
  | 'performance'
  | 'replication'
  | 'schema'
  | 'security'
  | 'transactions'
  | 'vacuum';

/** What a check makes of its rows: it was skipped, or it judged them. */
export type Judgement = Skipped | Judged;

/** Not measured: not applicable, or a privilege is missing. */
export interface Skipped {
  /** Why, in a sentence. */
  skipped: string;
  /** If a privilege is missing: the statement that grants it. One finding lists them all. */
  grant?: string;
  /** There are too many objects to look at. CONN_CHECKS_INCOMPLETE lists such checks. */
  skippedForSize?: true;
}

/** What a check found out. */
export interface Judged {
  faults: Fault[];
  /** The measured value when there is no fault, in one line. */
  passMessage: string;
  /** The numbers that it measured, with and without a fault. None if it compares no number and lists no objects. */
  measures: Measure[];
  /** Volatile checks: objects without a fault at 90 % of the warning threshold or more. */
  near?: (string | null)[];
  /** The list of faults was cut short by its limit: objects that it lacks may have faults too. */
  truncated?: boolean;
  /** It looked only at the largest objects, because there are too many; `truncated` is true then. */
  skippedForSize?: true;
  /** If a missing privilege may hide more faults: the statement that grants it. */
  grant?: string;
  /** What its faults do to indexes, for the plan of a run. */
  indexAdvice?: AdviceItem[];
}

/** What a check may know of the server besides its own rows. `T` are the thresholds of the check. */
export interface ServerFacts<T extends Thresholds = Thresholds> {
  /** PostgreSQL: `server_version_num`, such as 180004. MySQL 80036, MariaDB 101106. */
  version: number;
  /** The database that the rows are from. */
  database: string;
  /** The time of the run. */
  now: Date;
  /** The check's thresholds, with the changes of the connection. */
  thresholds: T;
  /** For a check that {@link Check.comparesRuns}: the rows of the previous run, and its age in seconds. Absent on the first run. */
  before?: { rows: Row[]; seconds: number };
  /** How many standbys the connection is set to expect; 0 = none. */
  expectedStandbys?: number;
  /** For a pooler: the servers of the account that may be behind it. */
  serversBehind?: readonly ServerLimit[];
  /** The login as GRANT expects it, such as `watcher` or `'watcher'@'localhost'`. */
  me?: string;
  /** Who hosts the server: its settings are changed in that provider's terms. Null or absent = nobody that is known. */
  provider?: Provider | null;
  /** What the advice about indexes of all checks comes to; absent until each has been judged without it. */
  indexPlan?: IndexPlan;
  /** For a check that {@link Check.readsQueries}: what queries did, or why that was not measured. */
  queries?: QueryFacts | Skipped;
}

/** What a judgement compares with: name → number, in the unit that the check's page gives. */
export type Thresholds = Readonly<Record<string, number>>;

/** The most faults of a check listed for a database (or a server); beyond, `truncated` is true. */
export const FAULT_LIMIT = 100;

/** The most tables of a database (MySQL: of a server) that a check of each table looks at: more would take too long. */
export const TABLE_LIMIT = 50_000;

/** One health check: its statement and what its rows mean. `T` are its thresholds. */
export interface Check<T extends Thresholds = Thresholds> {
  /** Upper-case code, such as `PG_DEAD_TUPLES`; its page is `docs/checks/<id>.md`. */
  id: string;
  title: string;
  category: Category;
  /** The highest severity that the check can report. */
  maxSeverity: Severity;
  /** Opens a ticket after two samples in a row, and resolves it after two clean ones (connections, locks, lag). */
  volatile: boolean;
  /** `server`: run once; `database`: run in each database, of PostgreSQL only. */
  scope: 'server' | 'database';
  /**
   * 1: its statement scans a catalogue; 2: also the statistics of columns. Absent for memory views and settings. A run
   * measures what costs less first.
   */
  cost?: 1 | 2;
  /**
   * The statements for the server's version, run in a READ ONLY transaction (PostgreSQL: with `search_path` pg_catalog).
   * `schema` is the quoted schema of {@link Check.extension}; undefined if that is not installed. The rows of several
   * statements come one after the other. Run it through `rowsOf` of rows.ts.
   */
  sql: (version: number, schema?: string) => string | readonly string[];
  /** Statements that depend on the rows so far, run after `sql`; undefined = not needed. */
  steps?(
    facts: Pick<ServerFacts<T>, 'version' | 'thresholds'>,
  ): readonly ((rows: readonly Row[]) => string | undefined)[];
  /** More statements, which depend on the rows of those of {@link Check.sql}: their rows follow. */
  details?(rows: readonly Row[], facts: Pick<ServerFacts<T>, 'version' | 'thresholds'>): readonly string[];
  /** The privileges without which the server refuses a statement, such as `PROCESS ON *.*`, or `pg_monitor`. */
  privilege?: (version: number) => string | readonly string[];
  /** PostgreSQL: its GRANT lets the login read rows too, so only the check's own finding asks for it. */
  grantReadsRows?: true;
  /** An extension that the statement reads. It may be in any schema; another statement looks it up first. */
  extension?: string;
  /** Judges what queries did. The run reads their statistics once for all such checks, as `facts.queries`. */
  readsQueries?: true;
  /** Measures what happened between two runs: its rows are stored, and passed as `facts.before` next time. */
  comparesRuns?: true;
  /** The defaults; a connection may change them. Absent if the check has none. */
  thresholds?: T;
  /** If {@link Check.comparesRuns}: the rows to store, if not all as they are. Call it by `keptRows` of judgement-of.ts. */
  keeps?: (rows: Row[], before?: ServerFacts['before']) => Row[];
  /** Call it by `judgementOf` of judgement-of.ts, which gives it the thresholds. A method, so that any check is a `Check`. */
  judge(rows: Row[], facts: ServerFacts<T>): Judgement;
}

/** A finding of a run, as in the specification's section 2.3, with what tickets need in addition. */
export interface Finding {
  check_id: string;
  category: Category;
  status: FindingStatus;
  title: string;
  metric_line: string;
  remediation: string;
  severity: Severity;
  /** The database that the object is in; '' for the whole server. */
  database: string;
  object: string | null;
  /** The missing GRANT, if the check was skipped for that. Runs stored before this field was added lack it. */
  missing_grant?: string;
  /** The number that the fault comes from, if it comes from one. No endpoint of the API shows it. */
  measured?: FaultMeasure;
}

/** Everything that one run found out about one check. */
export interface Outcome {
  check: Pick<Check, 'id' | 'category' | 'title' | 'volatile' | 'maxSeverity'>;
  /**
   * At least one; exactly one if none is a fault. Next to faults, one `error` names the databases where the
   * check could not look. If somebody silenced faults, each of those is `skipped` next to the others.
   */
  findings: Finding[];
  /** The check ran, so objects that it does not list are `ok`, except in `unmeasured`. False if it was skipped or failed. */
  measured: boolean;
  /** Databases where it was skipped, failed or cut short while others were measured: nothing there counts as `ok`. */
  unmeasured: string[];
  /** `database` and `object` of what is near the threshold (see {@link Judged.near}). */
  near: { database: string; object: string | null }[];
  /** It did not look at every object: there are too many, or the time was over. */
  incomplete?: true;
}
