import type { Catalogue } from '../engine-catalogue.ts';
import { pgbouncerChecks } from './pgbouncer-checks.ts';

/** The checks of PgBouncer. Its console shows a login everything that they read, or nothing. */
export const pgbouncerCatalogue: Catalogue = {
  checks: pgbouncerChecks,
  privilegeMissing: null,
  saturation: 'PB_CLIENT_LIMIT',
};
