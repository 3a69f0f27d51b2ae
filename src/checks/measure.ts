/** How a value is compared with its thresholds: at or above them, or at or below them. */
export type Operator = '>=' | '<=';

/** A number that a check or a vital measured. */
export interface Measure {
  /**
   * What was measured: lower case, with its base unit as the last word, in Prometheus style, such as
   * `connections_used_ratio` (0–1), `replication_lag_bytes`, `longest_transaction_seconds`, `deadlocks_per_second`,
   * `unused_indexes_count`. The check's page documents it.
   */
  metric: string;
  /** As on a finding: the quoted name; null for the whole server or database. */
  object: string | null;
  /** A finite number in the base unit. */
  value: number;
  /** Null if the value is compared with nothing. */
  operator: Operator | null;
  /** The value from which on it is a warning (or info), with the connection's changes; null if there is no such level. */
  warning: number | null;
  critical: number | null;
  /** The value at which the object is full, such as 1 for a sequence; null or absent if there is none. */
  limit?: number | null;
  /** The value can only grow until somebody acts, so a forecast is made. */
  grows?: true;
}

/** The number that a fault comes from. Its `metric_line` shows the same value. */
export interface FaultMeasure {
  metric: string;
  value: number;
  operator: Operator;
  /** The threshold that the value has crossed. */
  threshold: number;
}

/** A measure with its place. `checkId` is '' for a vital, `database` is '' for the server. */
export interface SeriesValue extends Measure {
  checkId: string;
  database: string;
}
