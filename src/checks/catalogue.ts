import type { Engine } from '../vocabulary/engines.ts';
import { backupChecks } from './backups/backup-checks.ts';
import { connectionFindings } from './connection-findings.ts';
import type { Catalogue } from './engine-catalogue.ts';
import { mysqlCatalogue } from './mysql/mysql-catalogue.ts';
import { pgbouncerCatalogue } from './pgbouncer/pgbouncer-catalogue.ts';
import { postgresCatalogue } from './postgres/postgres-catalogue.ts';

export const catalogues: Readonly<Record<Engine, Catalogue>> = {
  postgres: postgresCatalogue,
  mysql: mysqlCatalogue,
  mariadb: mysqlCatalogue, // the server itself reports which of the two it is
  pgbouncer: pgbouncerCatalogue,
};

const ofFamilies = [postgresCatalogue, mysqlCatalogue, pgbouncerCatalogue];

/** Every check of every engine, and the findings that need no statement. */
export const everyCheck = [
  ...backupChecks,
  ...connectionFindings,
  ...ofFamilies.flatMap(({ privilegeMissing }) => privilegeMissing ?? []),
  ...ofFamilies.flatMap(({ checks }) => checks),
];

const titles = new Map<string, string>(everyCheck.map(({ id, title }) => [id, title]));

/** The title of a check; undefined if there is no such check, or no longer. */
export function titleOf(checkId: string): string | undefined {
  return titles.get(checkId);
}
