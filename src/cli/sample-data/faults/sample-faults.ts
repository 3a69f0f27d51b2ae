import { blockedSessions } from '../../../checks/postgres/blocked-sessions.ts';
import { duration } from '../../../checks/wording.ts';
import type { Severity } from '../../../vocabulary/severities.ts';

/** The number that a fault of sample data comes from, as the real check measures it. */
export interface SampleMeasured {
  metric: string;
  warning: number;
  critical: number | null;
  /** The value at which the object is full. */
  limit?: number;
  grows?: true;
  /** The value that the fault's `metricLine` shows for the same `n` and severity. */
  value: (n: number, severity: Severity) => number;
}

/** A fault of sample data, with the texts of the real check. `n` varies by ticket, 0 to 99. */
export interface SampleFault {
  checkId: string;
  /** Picked at random, so a repeated value is more likely. */
  severities: readonly Severity[];
  /** The database of the object, or '' for a check of the whole server. */
  database: 'app' | '';
  /** The object at fault in a table; null = the whole server. */
  object: (table: string) => string | null;
  /** The measured value matches the severity, by the check's default thresholds. */
  metricLine: (table: string, n: number, severity: Severity) => string;
  remediation: (table: string) => string;
  /** Absent if the finding comes from no number. */
  measured?: SampleMeasured;
}

/** The largest value of an integer column, in both engines. */
export const LARGEST_INT = 2_147_483_647;
const AVAILABLE = 97; // connections for ordinary roles of a server with max_connections 100

const BLOCKED = blockedSessions.thresholds ?? { warning_seconds: 0, critical_seconds: 0 };

/** The faults of PostgreSQL to pick from, with roughly realistic frequencies. */
export const SAMPLE_FAULTS: readonly SampleFault[] = [
  {
    checkId: 'PG_DEAD_TUPLES',
    severities: ['warning'],
    database: 'app',
    object: (table) => `public.${table}`,
    metricLine: (table, n) =>
      `Database app: table public.${table} has ${20 + n},${100 + n} dead rows, ${10 + (n % 60)} % of all; vacuum it, and find out why autovacuum does not.`,
    remediation: (table) => `VACUUM (ANALYZE) public.${table};`,
    measured: {
      metric: 'dead_rows_ratio',
      warning: 0.1,
      critical: null,
      value: (n) => (10 + (n % 60)) / 100,
    },
  },
  {
    checkId: 'PG_FK_UNINDEXED',
    severities: ['info'],
    database: 'app',
    object: (table) => `public.${table}.${table}_customer_id_fkey`,
    metricLine: (table) =>
      `Database app: foreign key ${table}_customer_id_fkey of table public.${table} has no index on (customer_id); add one, or every delete in public.customers reads the whole table.`,
    remediation: (table) => `CREATE INDEX CONCURRENTLY ON public.${table} (customer_id);`,
  },
  {
    checkId: 'PG_INVALID_INDEX',
    severities: ['warning'],
    database: 'app',
    object: (table) => `public.${table}_created_at_idx`,
    metricLine: (table) =>
      `Database app: index public.${table}_created_at_idx on public.${table} is invalid: no query uses it, every write maintains it; rebuild it, or drop it if it is not needed.`,
    remediation: (table) => `REINDEX INDEX CONCURRENTLY public.${table}_created_at_idx;`,
  },
  {
    checkId: 'PG_DUPLICATE_INDEX',
    severities: ['warning'],
    database: 'app',
    object: (table) => `public.${table}_customer_id_idx1`,
    metricLine: (table, n) =>
      `Database app: index public.${table}_customer_id_idx1 (${8 + n} MB) duplicates public.${table}_customer_id_idx on public.${table}; drop it.`,
    remediation: (table) => `DROP INDEX CONCURRENTLY public.${table}_customer_id_idx1;`,
  },
  {
    checkId: 'PG_NO_PRIMARY_KEY',
    severities: ['info', 'info', 'warning'],
    database: 'app',
    object: (table) => `public.${table}`,
    metricLine: (table, _, severity) =>
      `Database app: table public.${table} has no primary key${severity === 'warning' ? ' and is published: subscribers can not apply its updates and deletes by key' : ''}; add one.`,
    remediation: (table) => `ALTER TABLE public.${table} ADD COLUMN id bigserial, ADD PRIMARY KEY (id);`,
  },
  {
    checkId: 'PG_SEQUENCE_EXHAUSTION',
    severities: ['warning', 'critical', 'critical'],
    database: 'app',
    object: (table) => `public.${table}_id_seq`,
    metricLine: (table, n, severity) => {
      const share = severity === 'critical' ? 95 + (n % 5) : 85 + (n % 10);
      return `Database app: sequence public.${table}_id_seq is at ${numberUsed(n, severity)} of ${LARGEST_INT} (${share} %); make its columns bigint before inserts fail.`;
    },
    measured: {
      metric: 'sequence_used_ratio',
      warning: 0.85,
      critical: 0.95,
      limit: 1,
      grows: true,
      value: (n, severity) => numberUsed(n, severity) / LARGEST_INT,
    },
    remediation: (table) =>
      `ALTER TABLE public.${table} ALTER COLUMN id TYPE bigint; ALTER SEQUENCE public.${table}_id_seq AS bigint NO MAXVALUE;`,
  },
  {
    checkId: 'PG_LONG_QUERY',
    severities: ['warning'],
    database: '',
    object: (table) => `app/reporting/${table}_export`,
    metricLine: (table, n) =>
      `Role reporting, application ${table}_export, database app: 1 session running one query, the oldest for ${minutes(n)} min; cancel it or make it faster.`,
    measured: {
      metric: 'longest_query_seconds',
      warning: 1_800,
      critical: null,
      value: (n) => minutes(n) * 60,
    },
    remediation: (table) =>
      `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = 'app' AND usename = 'reporting' AND application_name = '${table}_export' AND state in ('active', 'fastpath function call') AND query_start < now() - interval '1800 s' AND pid NOT IN (SELECT pid FROM pg_locks WHERE waitstart < query_start + interval '1800 s');`,
  },
  {
    checkId: 'PG_IDLE_IN_TXN',
    severities: ['warning'],
    database: '',
    object: (table) => `app/app/${table}_worker`,
    metricLine: (table, n) =>
      `Role app, application ${table}_worker, database app: 2 sessions idle in transaction, the oldest for ${minutes(n)} min; end the transaction, and set a timeout for future ones.`,
    measured: {
      metric: 'longest_idle_in_transaction_seconds',
      warning: 1_800,
      critical: null,
      value: (n) => minutes(n) * 60,
    },
    remediation: (table) =>
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'app' AND usename = 'app' AND application_name = '${table}_worker' AND state in ('idle in transaction', 'idle in transaction (aborted)') AND state_change < now() - interval '1800 s'; ALTER ROLE app IN DATABASE app SET idle_in_transaction_session_timeout = '10min';`,
  },
  {
    checkId: 'PG_BLOCKED_SESSIONS',
    severities: ['warning', 'critical', 'critical'],
    database: '',
    object: (table) => `app/app/${table}_worker`,
    metricLine: (table, n, severity) =>
      `Sessions of app/app/${table}_worker (database, role, application) have blocked ${2 + (n % 15)} sessions for ${duration(secondsBlocked(n, severity))}; end them, and set a lock_timeout to limit future waits.`,
    measured: {
      metric: 'longest_lock_wait_seconds',
      warning: BLOCKED.warning_seconds,
      critical: BLOCKED.critical_seconds,
      value: secondsBlocked,
    },
    remediation: (table) =>
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'app' AND usename = 'app' AND application_name = '${table}_worker' AND pid IN (SELECT unnest(pg_blocking_pids(pid)) FROM pg_locks WHERE NOT granted) AND pid NOT IN (SELECT pid FROM pg_locks WHERE NOT granted);`,
  },
  {
    checkId: 'PG_SUBSCRIPTION_STOPPED',
    severities: ['critical'],
    database: '',
    object: (table) => `app.${table}_feed`,
    metricLine: (table, n) =>
      `Subscription ${table}_feed of database app applies nothing: ${3 + n} errors since the last run; the log says why its worker ends.`,
    remediation: (table) =>
      `SELECT * FROM pg_stat_subscription WHERE subname = '${table}_feed'; -- then read the log of this server: the publisher or its slot is gone, a table or column is missing here, or a row is there already. Correct that; the worker starts again by itself`,
  },
  {
    checkId: 'PG_CONN_SATURATION',
    severities: ['warning', 'critical', 'critical'],
    database: '',
    object: () => null,
    measured: {
      metric: 'connections_used_ratio',
      warning: 0.8,
      critical: 0.95,
      limit: 1,
      value: (n, severity) => connectionsUsed(n, severity) / AVAILABLE,
    },
    metricLine: (_, n, severity) => {
      const used = connectionsUsed(n, severity);
      return `${used} of ${AVAILABLE} connections are in use (${Math.floor((100 * used) / AVAILABLE)} %); put a pooler in front, or raise max_connections.`;
    },
    remediation: () =>
      'ALTER SYSTEM SET max_connections = 200; -- takes effect at the next restart; a pooler such as PgBouncer needs none',
  },
];

/** How much of an integer column is used up, to match the severity: critical from 95 % on, a warning from 85 % on. */
export function numberUsed(n: number, severity: Severity): number {
  const share = severity === 'critical' ? 95 + (n % 5) : 85 + (n % 10);
  return Math.ceil((LARGEST_INT * share) / 100) + n * 100_003;
}

function connectionsUsed(n: number, severity: Severity): number {
  return severity === 'critical' ? 93 + (n % 5) : 78 + (n % 15);
}

function secondsBlocked(n: number, severity: Severity): number {
  const { warning_seconds, critical_seconds } = BLOCKED;
  return severity === 'critical'
    ? critical_seconds + 7 * n
    : warning_seconds + Math.floor(((critical_seconds - warning_seconds) * n) / 100);
}

/** How long a session has been busy with something: half an hour to an hour. */
function minutes(n: number): number {
  return 30 + (n % 30);
}

/** Names of tables with faults. */
export const SAMPLE_TABLES = [
  'orders',
  'order_items',
  'payments',
  'invoices',
  'shipments',
  'customers',
  'addresses',
  'sessions',
  'events',
  'audit_log',
  'products',
  'prices',
  'stock_moves',
  'refunds',
  'coupons',
  'messages',
] as const;

/** The systems that the databases belong to. */
export const SAMPLE_SYSTEMS = [
  'orders',
  'billing',
  'catalogue',
  'accounts',
  'search',
  'shipping',
  'analytics',
  'messaging',
  'payments',
  'inventory',
] as const;
