/** The base units of measured values: the last words of their names. Of two that fit, the longer comes first. */
export const UNITS = ['bytes_per_second', 'per_second', 'ratio', 'bytes', 'seconds', 'count'] as const;

export type Unit = (typeof UNITS)[number];

/** The unit of a metric, such as `bytes` of `replication_lag_bytes`. A name without one counts things. */
export function unitOf(metric: string): Unit {
  return UNITS.find((unit) => metric === unit || metric.endsWith(`_${unit}`)) ?? 'count';
}

/** A metric's name in words, without its unit: `Replication lag` for `replication_lag_bytes`. */
export function metricWords(metric: string): string {
  const unit = UNITS.find((each) => metric.endsWith(`_${each}`));
  const words = (unit ? metric.slice(0, -unit.length - 1) : metric).replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
