import type { Check } from './check.ts';
import { mysqlChecks } from './mysql/mysql-checks.ts';
import { postgresChecks } from './postgres/postgres-checks.ts';

/** What the monitor finds out by connecting, without a statement: the database did not answer. */
export const CONN_UNREACHABLE = {
  id: 'CONN_UNREACHABLE',
  title: 'Database unreachable',
  category: 'availability',
  maxSeverity: 'critical',
  volatile: false,
} as const satisfies Partial<Check>;

/** What the monitor finds out by connecting, without a statement: the database refused the credentials. */
export const CONN_AUTH_FAILED = {
  id: 'CONN_AUTH_FAILED',
  title: 'Credentials refused',
  category: 'availability',
  maxSeverity: 'critical',
  volatile: false,
} as const satisfies Partial<Check>;

/** What the checks that were skipped for want of a privilege ask for, all in one finding. */
export const PG_PRIVILEGE_MISSING = {
  id: 'PG_PRIVILEGE_MISSING',
  title: 'Privilege missing',
  category: 'configuration',
  maxSeverity: 'info',
  volatile: false,
} as const satisfies Partial<Check>;

/** The same of a MySQL or MariaDB server. */
const MY_PRIVILEGE_MISSING = {
  ...PG_PRIVILEGE_MISSING,
  id: 'MY_PRIVILEGE_MISSING',
} as const satisfies Partial<Check>;

/** What is watched, as `connection.engine` has it: by which scheme its URL was given. */
export type Engine = 'postgres' | 'mysql' | 'mariadb';

/** What is found out about a server of an engine. */
export interface Catalogue {
  checks: readonly Check[];
  /** What checks that were skipped for want of a privilege ask for. */
  privilegeMissing: Pick<Check, 'id' | 'category' | 'title' | 'volatile' | 'maxSeverity'>;
  /** The id of the check that a server without a free connection fails. */
  saturation: string;
}

const mysql: Catalogue = {
  checks: mysqlChecks,
  privilegeMissing: MY_PRIVILEGE_MISSING,
  saturation: 'MY_CONN_SATURATION',
};

export const catalogues: Readonly<Record<Engine, Catalogue>> = {
  postgres: {
    checks: postgresChecks,
    privilegeMissing: PG_PRIVILEGE_MISSING,
    saturation: 'PG_CONN_SATURATION',
  },
  mysql,
  mariadb: mysql, // which of the two it is, the server says itself
};

/** Every check of every engine, and what the monitor finds out without a statement. */
export const everyCheck = [
  CONN_UNREACHABLE,
  CONN_AUTH_FAILED,
  PG_PRIVILEGE_MISSING,
  MY_PRIVILEGE_MISSING,
  ...postgresChecks,
  ...mysqlChecks,
];
