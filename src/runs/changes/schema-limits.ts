import type { Fact, Reading } from './facts.ts';

/** How long reading a schema may take, and how large it may be. */
export const SCHEMA_LIMITS = { milliseconds: 300, tables: 20_000, facts: 100_000, bytes: 4_000_000 } as const;

/** A schema that was read. */
export function schemaReadings(database: string, facts: Fact[], basis = ''): Reading[] {
  return [
    { kind: 'schema', database, facts, basis },
    { kind: 'schema_skipped', database, facts: [] },
  ];
}

/** A schema that was not read: the previous reading stays, and the list of changes says why. */
export function skippedSchema(database: string, reason: string): Reading[] {
  return [{ kind: 'schema_skipped', database, facts: [['more', 'schema', `not compared: ${reason}`]] }];
}
