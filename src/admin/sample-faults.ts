/** A fault as sample data has it: what a real check of that id would say. `n` varies from ticket to ticket, 0 to 99. */
export interface SampleFault {
  checkId: string;
  /** Picked from at random, so repetition is weight. */
  severities: readonly ('critical' | 'warning' | 'info')[];
  /** The faulty object of a table; null = the whole server. */
  object: (table: string) => string | null;
  metricLine: (table: string, n: number) => string;
  remediation: (table: string) => string;
}

/** Faults to pick from; repetition of a check in real life is about as frequent. */
export const SAMPLE_FAULTS: readonly SampleFault[] = [
  {
    checkId: 'PG_DEAD_TUPLES',
    severities: ['warning', 'warning', 'critical'],
    object: (table) => `public.${table}`,
    metricLine: (table, n) =>
      `table public.${table} has ${20 + n},${100 + n} dead rows, ${11 + (n % 40)} % of all; vacuum it, and see what keeps autovacuum from it.`,
    remediation: (table) => `VACUUM (ANALYZE) public.${table};`,
  },
  {
    checkId: 'PG_FK_UNINDEXED',
    severities: ['info'],
    object: (table) => `public.${table}.${table}_customer_id_fkey`,
    metricLine: (table) =>
      `foreign key ${table}_customer_id_fkey of table public.${table} has no index on (customer_id); add one, or every delete in public.customers reads the whole table.`,
    remediation: (table) => `CREATE INDEX CONCURRENTLY ON public.${table} (customer_id);`,
  },
  {
    checkId: 'PG_INVALID_INDEX',
    severities: ['warning'],
    object: (table) => `public.${table}_created_at_idx`,
    metricLine: (table) =>
      `index public.${table}_created_at_idx on public.${table} is invalid: no query uses it, every write maintains it; rebuild it, or drop it if it is not needed.`,
    remediation: (table) => `REINDEX INDEX CONCURRENTLY public.${table}_created_at_idx;`,
  },
  {
    checkId: 'PG_DUPLICATE_INDEX',
    severities: ['warning'],
    object: (table) => `public.${table}_customer_id_idx1`,
    metricLine: (table, n) =>
      `index public.${table}_customer_id_idx1 (${8 + n} MB) repeats public.${table}_customer_id_idx on public.${table}; drop it.`,
    remediation: (table) => `DROP INDEX CONCURRENTLY public.${table}_customer_id_idx1;`,
  },
  {
    checkId: 'PG_NO_PRIMARY_KEY',
    severities: ['info', 'info', 'warning'],
    object: (table) => `public.${table}`,
    metricLine: (table) => `table public.${table} has no primary key; add one.`,
    remediation: (table) =>
      `ALTER TABLE public.${table} ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY;`,
  },
  {
    checkId: 'PG_SEQUENCE_EXHAUSTION',
    severities: ['warning', 'critical'],
    object: (table) => `public.${table}_id_seq`,
    metricLine: (table, n) =>
      `sequence public.${table}_id_seq stands at ${1_900 + n},483,647 of 2,147,483,647 (${88 + (n % 8)} %); make its columns bigint before inserts fail.`,
    remediation: (table) =>
      `ALTER TABLE public.${table} ALTER COLUMN id TYPE bigint; ALTER SEQUENCE public.${table}_id_seq AS bigint NO MAXVALUE;`,
  },
  {
    checkId: 'PG_LONG_QUERY',
    severities: ['warning', 'warning', 'critical'],
    object: (table) => `reporting ${table}-export`,
    metricLine: (table, n) =>
      `Role reporting, application ${table}-export, database app: 1 session running a query, the oldest for ${31 + n} min; cancel it or make it faster.`,
    remediation: (table) =>
      `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = '${table}-export';`,
  },
  {
    checkId: 'PG_IDLE_IN_TXN',
    severities: ['warning', 'critical'],
    object: (table) => `app ${table}-worker`,
    metricLine: (table, n) =>
      `Role app, application ${table}-worker, database app: 2 sessions idle in a transaction, the oldest for ${32 + n} min; end them.`,
    remediation: (table) =>
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${table}-worker';`,
  },
  {
    checkId: 'PG_CONN_SATURATION',
    severities: ['warning', 'critical'],
    object: () => null,
    metricLine: (_, n) =>
      `${78 + (n % 18)} of 97 connections are in use (${80 + (n % 18)} %); put a pooler in front, or raise max_connections.`,
    remediation: () => 'ALTER SYSTEM SET max_connections = 200; -- takes effect at the next restart',
  },
];

/** Names of tables that faults are found in. */
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

/** What the databases belong to. */
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
