import type { Engine } from '../vocabulary/engines.ts';
import type { Check } from './check.ts';
import { connectionFindings } from './connection-findings.ts';
import { mysqlCatalogue } from './mysql/mysql-catalogue.ts';
import { postgresCatalogue } from './postgres/postgres-catalogue.ts';

/** The checks of an engine. */
export interface Catalogue {
  checks: readonly Check[];
  /** The finding with the GRANTs that skipped checks need. */
  privilegeMissing: Pick<Check, 'id' | 'category' | 'title' | 'volatile' | 'maxSeverity'>;
  /** The id of the check that fails if the server has no free connection. */
  saturation: string;
}

export const catalogues: Readonly<Record<Engine, Catalogue>> = {
  postgres: postgresCatalogue,
  mysql: mysqlCatalogue,
  mariadb: mysqlCatalogue, // the server itself reports which of the two it is
};

/** Every check of every engine, and the findings that need no statement. */
export const everyCheck = [
  ...connectionFindings,
  postgresCatalogue.privilegeMissing,
  mysqlCatalogue.privilegeMissing,
  ...postgresCatalogue.checks,
  ...mysqlCatalogue.checks,
];

const titles = new Map<string, string>(everyCheck.map(({ id, title }) => [id, title]));

/** The title of a check; undefined if there is no such check, or no longer. */
export function titleOf(checkId: string): string | undefined {
  return titles.get(checkId);
}
