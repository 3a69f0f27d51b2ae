import type { Severity } from '../vocabulary/severities.ts';
import type { FaultMeasure } from './measure.ts';

/** What a check found out about one object, or about the whole server when `object` is null. */
export interface Fault {
  severity: Severity;
  /** The qualified name of the object, quoted as the engine quotes it; never a value, a pid or an oid. */
  object: string | null;
  /** The measured value and the recommendation, in one line. */
  metricLine: string;
  /** A statement that can be pasted. */
  remediation: string;
  /** The number that it comes from; absent if it comes from none. */
  measured?: FaultMeasure;
}

/** One row of a check's statement: column name to value, as the driver gives it. */
export type Row = Record<string, unknown>;

/** The schema of an object as MySQL quotes it: `` `shop` `` of `` `shop`.`orders` ``. */
const SCHEMA = /^`(?:[^`]|``)+`/;

/**
 * Which of the databases that a run left out a fault is of; undefined = of none. Of MySQL these are schemas, in backticks as
 * objects begin with them. A fault of a database as a whole is of none: PostgreSQL shows it in each database, so another one tells it.
 */
export function findLeftOut(
  { database, object }: { database: string; object: string | null },
  leftOut: ReadonlySet<string>,
): string | undefined {
  if (object === database || object === `"${database.replaceAll('"', '""')}"`) return undefined;
  const [schema] = database === '' ? (SCHEMA.exec(object ?? '') ?? []) : [];
  const place = schema ?? database;
  return leftOut.has(place) ? place : undefined;
}
