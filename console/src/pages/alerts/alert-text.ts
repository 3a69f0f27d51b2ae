import type { Alert } from '../../../../src/console-api/alerts/alert-schemas.ts';
import { SEVERITIES } from '../../../../src/vocabulary/severities.ts';
import type { Unit } from '../../../../src/vocabulary/units.ts';
import { valueText } from '../../parts/chart/value-text.ts';

type Kind = Alert['kind'];

/** The value that a rule compares, with its unit. */
export function alertValue(kind: Kind, unit: Unit, value: number): string {
  switch (kind) {
    case 'unreachable_seconds':
    case 'blocked_seconds':
      return valueText(value, 'seconds');
    case 'intervals_since_check':
      return `${valueText(value, 'count')} intervals`;
    case 'days_left':
      return value === 1 ? '1 day' : `${valueText(value, 'count')} days`;
    case 'measure':
      return valueText(value, unit);
    default:
      return valueText(value, 'count');
  }
}

/** `12, below 50`: what was measured, and the threshold that it crossed. */
export function crossedText({ kind, unit, value, operator, threshold }: Alert): string {
  return `${alertValue(kind, unit, value)}, ${OPERATORS[operator]} ${alertValue(kind, unit, threshold)}`;
}

/** An operator in words. */
export const OPERATORS: Record<Alert['operator'], string> = {
  '<': 'below',
  '<=': 'at most',
  '>': 'above',
  '>=': 'at least',
};

/** Whether an alert still asks for attention: nobody acknowledged it, or the time is over. */
export function needsAttention(
  { acknowledged, held }: Pick<Alert, 'acknowledged' | 'held'>,
  now: number,
): boolean {
  return held === null && !isAcknowledged(acknowledged, now);
}

/** Whether an acknowledgement lasts. */
export function isAcknowledged(acknowledged: Alert['acknowledged'], now: number): boolean {
  return acknowledged !== null && (acknowledged.until === null || Date.parse(acknowledged.until) > now);
}

/** `2 critical, 1 warning open; 1 acknowledged.` */
export function openSummary(alerts: readonly Alert[], now: number): string {
  if (alerts.length === 0) return 'No alert is open.';
  const counts = SEVERITIES.flatMap((severity) => {
    const count = alerts.filter((alert) => alert.severity === severity).length;
    return count === 0 ? [] : [`${count} ${severity}`];
  });
  const known = alerts.filter(({ acknowledged }) => isAcknowledged(acknowledged, now)).length;
  return `${counts.join(', ')} open${known === 0 ? '' : `, ${known} acknowledged`}.`;
}
