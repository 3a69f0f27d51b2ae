import type { AlertOperator } from '../../../vocabulary/alert-metrics.ts';

/** Whether a value holds against a threshold. */
export function compares(value: number, operator: AlertOperator, threshold: number): boolean {
  switch (operator) {
    case '<':
      return value < threshold;
    case '<=':
      return value <= threshold;
    case '>':
      return value > threshold;
    case '>=':
      return value >= threshold;
  }
}

/** Whether a value is further beyond a threshold than another one. */
export function isWorse(value: number, operator: AlertOperator, than: number): boolean {
  return operator === '<' || operator === '<=' ? value < than : value > than;
}
