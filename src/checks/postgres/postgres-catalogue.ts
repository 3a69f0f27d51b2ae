import type { Check } from '../check.ts';
import type { Catalogue } from '../engine-catalogue.ts';
import { postgresChecks } from './postgres-checks.ts';

/** The GRANTs that skipped checks need, all in one finding. */
export const PG_PRIVILEGE_MISSING = {
  id: 'PG_PRIVILEGE_MISSING',
  title: 'Privilege missing',
  category: 'configuration',
  maxSeverity: 'info',
  volatile: false,
} as const satisfies Partial<Check>;

/** The checks of PostgreSQL. */
export const postgresCatalogue: Catalogue = {
  checks: postgresChecks,
  privilegeMissing: PG_PRIVILEGE_MISSING,
  saturation: 'PG_CONN_SATURATION',
};
