import type { Engine } from '../../vocabulary/engines.ts';
import type { EngineParts } from './engine-parts.ts';

/** Loads how an engine is measured. A process loads the drivers and checks of only those engines that it measures. */
export async function loadEngine(engine: Engine): Promise<EngineParts> {
  return engine === 'postgres'
    ? (await import('./postgres-engine.ts')).postgresEngine
    : (await import('./mysql-engine.ts')).mysqlEngine;
}
