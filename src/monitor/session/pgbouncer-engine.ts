import { pgbouncerCatalogue } from '../../checks/pgbouncer/pgbouncer-catalogue.ts';
import { engineVitals } from '../../checks/vitals/engine-vitals.ts';
import type { EngineParts } from './engine-parts.ts';
import { factsOfPgbouncer, isPgbouncerPrimary } from './pgbouncer/pgbouncer-facts.ts';
import { openPgbouncerSession } from './pgbouncer/pgbouncer-session.ts';

/** How PgBouncer is measured. */
export const pgbouncerEngine: EngineParts = {
  ...pgbouncerCatalogue,
  vitals: engineVitals.pgbouncer,
  openSession: openPgbouncerSession,
  readFacts: factsOfPgbouncer,
  isPrimary: isPgbouncerPrimary,
};
