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
  /** The value that the fault's `line` shows for the same `n` and severity. */
  value: (n: number, severity: Severity) => number;
}

/**
 * A fault of sample data, with the texts of the real check. `{table}` in a text is the name of a table, and other names
 * in braces are those of `numbers`.
 */
export interface SampleFault {
  checkId: string;
  /** Picked at random, so a repeated value is more likely. */
  severities: readonly Severity[];
  /** The database of the object, or '' for a check of the whole server. */
  database: 'app' | '';
  /** The object at fault. Null if it is the whole server. */
  object: string | null;
  /** The measured value matches the severity, by the check's default thresholds. */
  line: string;
  remediation: string;
  /** The variable parts of `line`. `n` varies by ticket, 0 to 99. */
  numbers?: (n: number, severity: Severity) => Readonly<Record<string, string | number>>;
  /** Absent if the finding comes from no number. */
  measured?: SampleMeasured;
  /** It slows nothing: the server works as on other days. */
  isHarmless?: true;
}

/** Puts the table and the numbers into a text of a fault. */
export function fillText(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (name, key: string) => String(values[key] ?? name));
}

const RISING: readonly Severity[] = ['warning', 'critical', 'critical'];
/** The largest value of an integer column, in both engines. */
const LARGEST_INT = 2_147_483_647;
const BLOCKED = blockedSessions.thresholds ?? { warning_seconds: 0, critical_seconds: 0 };
const COUNTER = { warning: 0.85, critical: 0.95, limit: 1, grows: true } as const;
const UNREPLICATED = ' and is published, so its updates and deletes fail';

/** How much of an integer column is used up, to match the severity: critical from 95 % on, a warning from 85 % on. */
const sharePercent = (n: number, severity: Severity) =>
  severity === 'critical' ? 95 + (n % 5) : 85 + (n % 10);
const numberUsed = (n: number, severity: Severity) =>
  Math.ceil((LARGEST_INT * sharePercent(n, severity)) / 100) + n * 100_003;
const ratioUsed = (n: number, severity: Severity) => numberUsed(n, severity) / LARGEST_INT;

/** How long a session has been busy with something: half an hour to an hour. */
const minutes = (n: number) => 30 + (n % 30);

const secondsBlocked = (n: number, severity: Severity) => {
  const { warning_seconds, critical_seconds } = BLOCKED;
  if (severity === 'critical') return critical_seconds + 7 * n;
  return warning_seconds + Math.floor(((critical_seconds - warning_seconds) * n) / 100);
};

/** A fault of a server with so many connections for ordinary roles, of which `used` are in use. */
function connectionFault(
  checkId: string,
  all: number,
  used: (n: number, severity: Severity) => number,
  remediation: string,
): SampleFault {
  return {
    checkId,
    severities: RISING,
    database: '',
    object: null,
    line: `{used} of ${all} connections are in use ({percent} %); put a pooler in front, or raise max_connections.`,
    numbers: (n, severity) => {
      const count = used(n, severity);
      return { used: count, percent: Math.floor((100 * count) / all) };
    },
    remediation,
    measured: {
      metric: 'connections_used_ratio',
      warning: 0.8,
      critical: 0.95,
      limit: 1,
      value: (n, severity) => used(n, severity) / all,
    },
  };
}

/** The faults to pick from by engine, with roughly realistic frequencies. */
export const SAMPLE_FAULTS: Readonly<Record<'postgres' | 'mysql', readonly SampleFault[]>> = {
  postgres: [
    {
      checkId: 'PG_DEAD_TUPLES',
      severities: ['warning'],
      database: 'app',
      object: 'public.{table}',
      line: 'Database app: table public.{table} has {thousands},{hundreds} dead rows, {percent} % of all; vacuum it, and find out why autovacuum does not.',
      numbers: (n) => ({ thousands: 20 + n, hundreds: 100 + n, percent: 10 + (n % 60) }),
      remediation: 'VACUUM (ANALYZE) public.{table};',
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
      object: 'public.{table}.{table}_customer_id_fkey',
      line: 'Database app: foreign key {table}_customer_id_fkey of table public.{table} has no index on (customer_id); add one, or every delete in public.customers reads the whole table.',
      remediation: 'CREATE INDEX CONCURRENTLY ON public.{table} (customer_id);',
    },
    {
      checkId: 'PG_INVALID_INDEX',
      severities: ['warning'],
      database: 'app',
      object: 'public.{table}_created_at_idx',
      line: 'Database app: index public.{table}_created_at_idx on public.{table} is invalid: no query uses it, every write maintains it; rebuild it, or drop it if it is not needed.',
      remediation: 'REINDEX INDEX CONCURRENTLY public.{table}_created_at_idx;',
    },
    {
      checkId: 'PG_DUPLICATE_INDEX',
      severities: ['warning'],
      database: 'app',
      object: 'public.{table}_customer_id_idx1',
      line: 'Database app: index public.{table}_customer_id_idx1 ({megabytes} MB) duplicates public.{table}_customer_id_idx on public.{table}; drop it.',
      numbers: (n) => ({ megabytes: 8 + n }),
      remediation: 'DROP INDEX CONCURRENTLY public.{table}_customer_id_idx1;',
    },
    {
      checkId: 'PG_NO_PRIMARY_KEY',
      severities: ['info', 'info', 'warning'],
      database: 'app',
      object: 'public.{table}',
      line: 'Database app: table public.{table} has no primary key{published}; add one.',
      numbers: (_, severity) => ({ published: severity === 'warning' ? UNREPLICATED : '' }),
      remediation: 'ALTER TABLE public.{table} ADD COLUMN id bigserial, ADD PRIMARY KEY (id);',
    },
    {
      checkId: 'PG_SEQUENCE_EXHAUSTION',
      severities: RISING,
      database: 'app',
      object: 'public.{table}_id_seq',
      line: `Database app: sequence public.{table}_id_seq is at {used} of ${LARGEST_INT} ({percent} %); make its columns bigint before inserts fail.`,
      numbers: (n, severity) => ({ used: numberUsed(n, severity), percent: sharePercent(n, severity) }),
      remediation:
        'ALTER TABLE public.{table} ALTER COLUMN id TYPE bigint; ALTER SEQUENCE public.{table}_id_seq AS bigint NO MAXVALUE;',
      measured: { metric: 'sequence_used_ratio', value: ratioUsed, ...COUNTER },
    },
    {
      checkId: 'PG_LONG_QUERY',
      severities: ['warning'],
      database: '',
      object: 'app/reporting/{table}_export',
      line: 'Role reporting, application {table}_export, database app: 1 session running one query, the oldest for {minutes} min; cancel it or make it faster.',
      numbers: (n) => ({ minutes: minutes(n) }),
      remediation:
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE datname = 'app' AND usename = 'reporting' AND application_name = '{table}_export' AND state in ('active', 'fastpath function call') AND query_start < now() - interval '1800 s' AND pid NOT IN (SELECT pid FROM pg_locks WHERE waitstart < query_start + interval '1800 s');",
      measured: {
        metric: 'longest_query_seconds',
        warning: 1_800,
        critical: null,
        value: (n) => minutes(n) * 60,
      },
    },
    {
      checkId: 'PG_IDLE_IN_TXN',
      severities: ['warning'],
      database: '',
      object: 'app/app/{table}_worker',
      line: 'Role app, application {table}_worker, database app: 2 sessions idle in transaction, the oldest for {minutes} min; end the transaction, and set a timeout for future ones.',
      numbers: (n) => ({ minutes: minutes(n) }),
      remediation:
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'app' AND usename = 'app' AND application_name = '{table}_worker' AND state in ('idle in transaction', 'idle in transaction (aborted)') AND state_change < now() - interval '1800 s'; ALTER ROLE app IN DATABASE app SET idle_in_transaction_session_timeout = '10min';",
      measured: {
        metric: 'longest_idle_in_transaction_seconds',
        warning: 1_800,
        critical: null,
        value: (n) => minutes(n) * 60,
      },
    },
    {
      checkId: 'PG_BLOCKED_SESSIONS',
      severities: RISING,
      database: '',
      object: 'app/app/{table}_worker',
      line: 'Sessions of app/app/{table}_worker (database, role, application) have blocked {sessions} sessions for {duration}; end them, and set a lock_timeout to limit future waits.',
      numbers: (n, severity) => ({
        sessions: 2 + (n % 15),
        duration: duration(secondsBlocked(n, severity)),
      }),
      remediation:
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'app' AND usename = 'app' AND application_name = '{table}_worker' AND pid IN (WITH RECURSIVE chain AS (SELECT pid FROM pg_locks WHERE waitstart < now() - interval '30 s' UNION SELECT unnest(pg_blocking_pids(pid)) FROM chain) SELECT pid FROM chain) AND pid NOT IN (SELECT pid FROM pg_locks WHERE NOT granted);",
      measured: {
        metric: 'longest_lock_wait_seconds',
        warning: BLOCKED.warning_seconds,
        critical: BLOCKED.critical_seconds,
        value: secondsBlocked,
      },
    },
    {
      checkId: 'PG_SUBSCRIPTION_STOPPED',
      severities: ['critical'],
      database: '',
      object: 'app.{table}_feed',
      line: 'Subscription {table}_feed of database app applies nothing: {errors} errors since the last run; the log says why its worker ends.',
      numbers: (n) => ({ errors: 3 + n }),
      remediation:
        "SELECT * FROM pg_stat_subscription WHERE subname = '{table}_feed'; -- then read the log of this server: the publisher or its slot is gone, a table or column is missing here, or a row is there already. Correct that; the worker starts again by itself",
    },
    connectionFault(
      'PG_CONN_SATURATION',
      97, // of max_connections 100
      (n, severity) => (severity === 'critical' ? 93 + (n % 5) : 78 + (n % 15)),
      'ALTER SYSTEM SET max_connections = 200; -- takes effect at the next restart; a pooler such as PgBouncer needs none',
    ),
  ],
  // The name of the object includes the database.
  mysql: [
    {
      checkId: 'MY_NO_PRIMARY_KEY',
      severities: ['warning'],
      database: '',
      object: '`app`.`{table}`',
      line: 'table `app`.`{table}` (212 MB) has no primary key, and no unique key over NOT NULL columns: a replica reads the whole table for each changed row; add one.',
      remediation:
        'ALTER TABLE `app`.`{table}` ADD COLUMN `id` bigint unsigned NOT NULL AUTO_INCREMENT INVISIBLE PRIMARY KEY;',
    },
    {
      checkId: 'MY_REDUNDANT_INDEX',
      severities: ['info'],
      database: '',
      object: '`app`.`{table}`.`customer_id`',
      line: 'index `customer_id` of table `app`.`{table}` (all its secondary indexes: 38 MB) is covered by `customer_id_created_at`, which begins with its columns; keep `customer_id_created_at`, make `customer_id` invisible, then drop it.',
      remediation:
        'ALTER TABLE `app`.`{table}` ALTER INDEX `customer_id` INVISIBLE; -- after a month in which nothing needed it, drop it',
    },
    {
      checkId: 'MY_NON_INNODB',
      severities: ['warning'],
      database: '',
      object: '`app`.`{table}_archive`',
      line: 'table `app`.`{table}_archive` uses the engine MyISAM, which has no transactions; convert it to InnoDB.',
      remediation: 'ALTER TABLE `app`.`{table}_archive` ENGINE = InnoDB, ROW_FORMAT = DYNAMIC;',
    },
    {
      checkId: 'MY_AUTOINC_EXHAUSTION',
      severities: RISING,
      database: '',
      object: '`app`.`{table}`',
      line: 'AUTO_INCREMENT of table `app`.`{table}` is at {used}, {percent} % of the maximum of its column `id` (int); widen it before inserts fail.',
      numbers: (n, severity) => ({
        used: numberUsed(n, severity).toLocaleString('en-US'),
        percent: sharePercent(n, severity),
      }),
      remediation: 'ALTER TABLE `app`.`{table}` MODIFY `id` bigint NOT NULL AUTO_INCREMENT;',
      measured: { metric: 'auto_increment_used_ratio', value: ratioUsed, ...COUNTER },
    },
    {
      checkId: 'MY_LONG_TRX',
      severities: ['warning'],
      database: '',
      object: 'app/{table}_export',
      line: 'User {table}_export, database app: 1 transaction open, the oldest for {hours} h {minutes} min; commit it or end it.',
      numbers: (n) => ({ hours: 1 + (n % 3), minutes: n % 60 }),
      remediation:
        "SELECT concat('KILL ', id, ';') AS statement, user, db, trx_started FROM information_schema.innodb_trx JOIN information_schema.processlist ON id = trx_mysql_thread_id WHERE user = '{table}_export' AND db = 'app'; -- run what it prints",
      measured: {
        metric: 'longest_transaction_seconds',
        warning: 3_600,
        critical: null,
        value: (n) => (1 + (n % 3)) * 3_600 + (n % 60) * 60,
      },
    },
    connectionFault(
      'MY_CONN_SATURATION',
      151, // the default of max_connections
      (n, severity) => (severity === 'critical' ? 144 + (n % 8) : 121 + (n % 22)),
      'SET PERSIST max_connections = 302;',
    ),
  ],
};
