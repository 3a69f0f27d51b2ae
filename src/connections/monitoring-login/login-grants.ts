import type { Engine } from '../../vocabulary/engines.ts';

/** A privilege of the monitoring login that can be granted or left out. */
export interface LoginGrant {
  id: string;
  /** As the tables of docs/least-privilege.md name it. */
  privilege: string;
  /** What it lets the login see. */
  why: string;
  /** The checks that are skipped without it. */
  checks: readonly string[];
  isDefault: boolean;
  /** A privilege on `*.*`, which is granted together with the others in one statement. */
  global?: string;
  /** Statements that run once on the server, before `to LOGIN;`. */
  server?: readonly string[];
  /** What each database is given: statements with `{login}` for the login. */
  database?: readonly string[];
}

const TABLES_OF_MYSQL =
  'MY_NO_PRIMARY_KEY MY_AUTOINC_EXHAUSTION MY_NON_INNODB MY_REDUNDANT_INDEX MY_UNUSED_INDEX MY_CHARSET_LEGACY MY_MIXED_COLLATIONS MY_INDEX_GT_DATA';
const REPLICAS = 'MY_REPLICA_STOPPED MY_REPLICA_LAG MY_REPLICA_WRITABLE';
const SESSIONS = 'It shows the sessions of all logins, with the text of their statements.';
const REFERENCES =
  'It makes the names of tables, columns and indexes visible, without access to rows, unlike SELECT.';
const STATISTICS = 'It shows the statistics of statements, tables, locks and hosts.';
const HASHES =
  'It holds the accounts with the hashes of their passwords. The hashes never leave the server: dbvitals reads only whether a password is empty or has an old format.';

const POSTGRES: readonly LoginGrant[] = [
  {
    id: 'statistics',
    privilege: 'pg_monitor',
    why: 'It shows settings, statistics, and sessions with the text of their queries.',
    checks: listed(
      'PG_CONN_SATURATION PG_IDLE_IN_TXN PG_LONG_QUERY PG_LONG_XACT PG_XMIN_HELD PG_REPLICATION_LAG PG_REPLICA_MISSING PG_SLOW_QUERIES PG_QUERY_SLOWER PG_QUERY_NEW PG_QUERY_READS PG_PENDING_RESTART PG_NO_TLS PG_WAL_KEPT PG_INVALID_INDEX',
    ),
    isDefault: true,
    server: ['grant pg_monitor'],
  },
  {
    id: 'sequences',
    privilege: 'SELECT on sequences',
    why: 'It shows the last values of sequences.',
    checks: ['PG_SEQUENCE_EXHAUSTION'],
    isDefault: true,
    database: [
      'grant select on all sequences in schema public to {login};',
      'alter default privileges in schema public grant select on sequences to {login};',
    ],
  },
  {
    id: 'tables',
    privilege: 'SELECT on tables',
    why: 'It lets the login read every row of these tables. PostgreSQL requires it to show the statistics in pg_stats, which estimates of bloat need. dbvitals reads no rows.',
    checks: ['PG_TABLE_BLOAT_EST', 'PG_INDEX_BLOAT_EST'],
    isDefault: false,
    database: [
      'grant select on all tables in schema public to {login};',
      'alter default privileges in schema public grant select on tables to {login};',
    ],
  },
];

const MARIADB: readonly LoginGrant[] = [
  {
    id: 'process',
    privilege: 'PROCESS',
    global: 'process',
    isDefault: true,
    why: SESSIONS,
    checks: listed('MY_LONG_TRX MY_LOCK_WAITS MY_MDL_WAIT'),
  },
  {
    id: 'replication',
    privilege: 'SLAVE MONITOR',
    global: 'slave monitor',
    isDefault: true,
    why: 'It shows the state of replication.',
    checks: listed(REPLICAS),
  },
  {
    id: 'references',
    privilege: 'REFERENCES',
    global: 'references',
    isDefault: true,
    why: REFERENCES,
    checks: listed(TABLES_OF_MYSQL),
  },
  {
    id: 'performance_schema',
    privilege: 'SELECT on performance_schema',
    isDefault: true,
    why: STATISTICS,
    checks: listed(
      'MY_MDL_WAIT MY_SLOW_QUERIES MY_QUERY_SLOWER MY_QUERY_NEW MY_QUERY_READS MY_NAME_RESOLUTION MY_UNUSED_INDEX',
    ),
    server: ['grant select on performance_schema.*'],
  },
  {
    id: 'accounts',
    privilege: 'SELECT on mysql.global_priv',
    isDefault: true,
    why: HASHES,
    checks: listed('MY_EMPTY_PASSWORD MY_ROOT_REMOTE MY_AUTH_LEGACY MY_NAME_RESOLUTION'),
    server: ['grant select on mysql.global_priv'],
  },
];

const MYSQL: readonly LoginGrant[] = [
  {
    id: 'process',
    privilege: 'PROCESS',
    global: 'process',
    isDefault: true,
    why: SESSIONS,
    checks: listed('MY_LONG_TRX MY_LOCK_WAITS MY_MDL_WAIT MY_HISTORY_LIST MY_UNUSED_INDEX'),
  },
  {
    id: 'replication',
    privilege: 'REPLICATION CLIENT',
    global: 'replication client',
    isDefault: true,
    why: 'It shows the state of replication.',
    checks: listed(REPLICAS),
  },
  {
    id: 'references',
    privilege: 'REFERENCES',
    global: 'references',
    isDefault: true,
    why: REFERENCES,
    checks: listed(TABLES_OF_MYSQL),
  },
  {
    id: 'performance_schema',
    privilege: 'SELECT on performance_schema',
    isDefault: true,
    why: STATISTICS,
    checks: listed(
      'MY_LOCK_WAITS MY_MDL_WAIT MY_SLOW_QUERIES MY_QUERY_SLOWER MY_QUERY_NEW MY_QUERY_READS MY_NAME_RESOLUTION MY_UNUSED_INDEX MY_GROUP_MEMBER_DOWN',
    ),
    server: ['grant select on performance_schema.*'],
  },
  {
    id: 'accounts',
    privilege: 'SELECT on columns of mysql.user',
    isDefault: true,
    why: HASHES,
    checks: listed('MY_EMPTY_PASSWORD MY_ROOT_REMOTE MY_AUTH_LEGACY MY_NAME_RESOLUTION'),
    server: ['grant select (user, host, plugin, authentication_string, account_locked) on mysql.user'],
  },
  {
    id: 'administrators',
    privilege: 'SELECT on the privileges in mysql.user',
    isDefault: true,
    why: 'It shows which accounts are administrators, so that advice never locks the last one.',
    checks: ['MY_ROOT_REMOTE'],
    server: ['grant select (super_priv, create_user_priv, grant_priv) on mysql.user'],
  },
];

/** The privileges that the checks of an engine need, as docs/least-privilege.md lists them. */
export const LOGIN_GRANTS: Readonly<Record<Engine, readonly LoginGrant[]>> = {
  postgres: POSTGRES,
  mysql: MYSQL,
  mariadb: MARIADB,
  pgbouncer: [], // stats_users is all or nothing
};

function listed(text: string): string[] {
  return text.split(' ');
}
