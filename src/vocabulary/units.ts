/** The base units of measured values: the last words of their names. Of two that fit, the longer comes first. */
export const UNITS = ['bytes_per_second', 'per_second', 'ratio', 'bytes', 'seconds', 'count'] as const;

export type Unit = (typeof UNITS)[number];

/** The unit of a metric, such as `bytes` of `replication_lag_bytes`. A name without one counts things. */
export function unitOf(metric: string): Unit {
  return UNITS.find((unit) => metric === unit || metric.endsWith(`_${unit}`)) ?? 'count';
}
