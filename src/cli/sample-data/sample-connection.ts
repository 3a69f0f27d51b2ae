import { serverVersion } from '../../platform/text/server-version.ts';
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

/** The versions of the servers as they count them, which connections have in turn, and the day of their last fixes. */
const VERSIONS: Readonly<Record<SampleConnection['engine'], readonly [version: number, until: string][]>> = {
  postgres: [
    [180_006, '2030-11-14'],
    [170_012, '2029-11-08'],
  ],
  mysql: [[80_409, '2032-04-30']],
  pgbouncer: [[12_401, '']],
};

/** The version of a connection's server. */
export interface SampleVersion {
  /** As the server counts it. */
  version: number;
  text: string;
  /** The one that the server had before its update. */
  before: string;
  /** The day of its last fixes. */
  until: string;
}

export function sampleVersion({ engine, seed }: Pick<SampleConnection, 'engine' | 'seed'>): SampleVersion {
  const ofEngine = VERSIONS[engine];
  const [version, until] = ofEngine[seed % ofEngine.length] ?? [0, ''];
  return {
    version,
    text: serverVersion(engine, version),
    before: serverVersion(engine, version - 1),
    until,
  };
}
