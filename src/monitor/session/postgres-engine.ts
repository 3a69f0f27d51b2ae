import { postgresCatalogue } from '../../checks/postgres/postgres-catalogue.ts';
import { engineVitals } from '../../checks/vitals/engine-vitals.ts';
import type { EngineParts } from './engine-parts.ts';
import { factsOfPostgres, isPostgresPrimary } from './postgres-facts.ts';
import { openPostgresSession } from './postgres-session.ts';

/** How PostgreSQL servers are measured. */
export const postgresEngine: EngineParts = {
  ...postgresCatalogue,
  vitals: engineVitals.postgres,
  openSession: openPostgresSession,
  readFacts: factsOfPostgres,
  isPrimary: isPostgresPrimary,
};
