import type { SqlEngine } from '../../vocabulary/engines.ts';

/** A connection of sample data. The seed determines its runs and tickets (`runsOf`). */
export interface SampleConnection {
  name: string;
  host: string;
  engine: Exclude<SqlEngine, 'mariadb'>;
  seed: number;
  /** The number of tickets that its runs open. */
  tickets: number;
}

/** The connections of a company. Each has the same number of runs. */
export interface SampleFleet {
  connections: readonly SampleConnection[];
  runs: number;
  days: number;
}
