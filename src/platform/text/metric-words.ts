import { UNITS } from '../../vocabulary/units.ts';

/** A metric's name in words, without its unit: `Replication lag` for `replication_lag_bytes`. */
export function metricWords(metric: string): string {
  const unit = UNITS.find((each) => metric.endsWith(`_${each}`));
  const words = (unit ? metric.slice(0, -unit.length - 1) : metric).replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
