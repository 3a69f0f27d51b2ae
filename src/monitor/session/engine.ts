import { type Engine, type EngineFamily, familyOf } from '../../vocabulary/engines.ts';
import type { EngineParts } from './engine-parts.ts';

/** Loads how an engine is measured. A process loads the drivers and checks of only those engines that it measures. */
export async function loadEngine(engine: Engine): Promise<EngineParts> {
  return await PARTS[familyOf(engine)]();
}

const PARTS: Readonly<Record<EngineFamily, () => Promise<EngineParts>>> = {
  postgres: async () => (await import('./postgres-engine.ts')).postgresEngine,
  mysql: async () => (await import('./mysql-engine.ts')).mysqlEngine,
  pgbouncer: async () => (await import('./pgbouncer-engine.ts')).pgbouncerEngine,
};
