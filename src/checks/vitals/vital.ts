import type { Provider } from '../../vocabulary/hosted/providers.ts';
import type { Row } from '../fault.ts';

/** A vital sign of a server: a number that each run records beside its checks, and that nothing judges. */
export interface Vital {
  /** Named like the metric of a {@link import('../measure.ts').Measure}: its last words are its unit. */
  metric: string;
  /** What it is called above a chart, without the unit. */
  title: string;
  /** What exactly is counted, in a sentence for the reference. */
  meaning: string;
  /** The most values of a run, the largest first: one per standby, database, table or index. Absent = one. */
  most?: number;
  /** It can only grow until somebody acts, so a forecast is made. */
  grows?: true;
}

/** A value of a vital. */
export interface VitalValue {
  metric: string;
  value: number;
  /** The name of the database that the value is of; '' or absent for the server. */
  database?: string;
  /** As on a finding: the quoted name. */
  object?: string | null;
}

/** What is known when the rows of a reading become values. */
export interface VitalFacts {
  version: number;
  /** The rows that the previous run kept, and their age in seconds. Absent on the first run. */
  before?: { rows: readonly Row[]; seconds: number };
}

/** Statements that are read together for vitals. If one fails, all vitals of the reading are left out of the run. */
export interface VitalReading {
  /** The id under which its rows are kept for the next run. No check has it. */
  id: `VITALS${string}`;
  /** `server`: read once; `database`: in each database, of PostgreSQL only. */
  scope: 'server' | 'database';
  /** What is missing without it, in the middle of a sentence, such as `sizes of databases`. */
  what: string;
  /** What to grant if the server denies its statements, as {@link import('../check.ts').Check} has it. Absent: its message tells. */
  privilege?: (version: number) => string | readonly string[];
  /** Whether the server hid something from the login, without an error. Its {@link VitalReading.privilege} then shows it. */
  isHidden?: (rows: readonly Row[]) => boolean;
  /** It costs more, and changes slowly: read once an hour. The runs between repeat its values. */
  hourly?: true;
  /** A statement that a check has too is not sent again. */
  sql: (version: number, provider?: Provider | null) => readonly string[];
  /** The rows that the next run compares with; of an hourly reading, those that give its values. */
  kept: (rows: readonly Row[]) => Row[];
  values: (rows: readonly Row[], facts: VitalFacts) => VitalValue[];
}

/** The vitals of an engine, and how they are read. */
export interface EngineVitals {
  vitals: readonly Vital[];
  readings: readonly VitalReading[];
}
