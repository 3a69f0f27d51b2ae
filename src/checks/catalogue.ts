import type { Engine } from '../vocabulary/engines.ts';
import type { Check } from './check.ts';
import { mysqlChecks } from './mysql/mysql-checks.ts';
import { postgresChecks } from './postgres/postgres-checks.ts';

/** A finding of the connection attempt itself: the database did not answer. */
export const CONN_UNREACHABLE = {
  id: 'CONN_UNREACHABLE',
  title: 'Database unreachable',
  category: 'availability',
  maxSeverity: 'critical',
  volatile: false,
} as const satisfies Partial<Check>;

/** A finding of the connection attempt itself: the database refused the credentials. */
export const CONN_AUTH_FAILED = {
  id: 'CONN_AUTH_FAILED',
  title: 'Credentials refused',
  category: 'availability',
  maxSeverity: 'critical',
  volatile: false,
} as const satisfies Partial<Check>;

/** The GRANTs that skipped checks need, all in one finding. */
export const PG_PRIVILEGE_MISSING = {
  id: 'PG_PRIVILEGE_MISSING',
  title: 'Privilege missing',
  category: 'configuration',
  maxSeverity: 'info',
  volatile: false,
} as const satisfies Partial<Check>;

/** The same for a MySQL or MariaDB server. */
const MY_PRIVILEGE_MISSING = {
  ...PG_PRIVILEGE_MISSING,
  id: 'MY_PRIVILEGE_MISSING',
} as const satisfies Partial<Check>;

/** The checks of an engine. */
export interface Catalogue {
  checks: readonly Check[];
  /** The finding with the GRANTs that skipped checks need. */
  privilegeMissing: Pick<Check, 'id' | 'category' | 'title' | 'volatile' | 'maxSeverity'>;
  /** The id of the check that fails if the server has no free connection. */
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
  mariadb: mysql, // the server itself reports which of the two it is
};

/** Every check of every engine, and the findings that need no statement. */
export const everyCheck = [
  CONN_UNREACHABLE,
  CONN_AUTH_FAILED,
  PG_PRIVILEGE_MISSING,
  MY_PRIVILEGE_MISSING,
  ...postgresChecks,
  ...mysqlChecks,
];
