import type { Engine } from '../../vocabulary/engines.ts';

/** A connection of sample data. The seed determines its runs and tickets (`runsOf`). */
export interface SampleConnection {
  name: string;
  host: string;
  engine: Exclude<Engine, 'mariadb'>;
  seed: number;
  /** The number of tickets that its runs open. */
  tickets: number;
  /** Whether the own check of the sample runs on it. One of its tickets is of that. */
  hasOwnCheck: boolean;
}

/** The connections of a company. Each has the same number of runs. */
export interface SampleFleet {
  connections: readonly SampleConnection[];
  runs: number;
  days: number;
}
