/**
 * What a rule compares with its threshold: the score; seconds since the connection was last reached; intervals of its
 * health checks since the last one; how many findings are critical, or warnings and worse; a measured value; days until it is full.
 */
export const ALERT_METRICS = [
  'score',
  'unreachable_seconds',
  'intervals_since_check',
  'findings_critical',
  'findings_warning',
  'measure',
  'days_left',
] as const;

export type AlertMetric = (typeof ALERT_METRICS)[number];

export const ALERT_OPERATORS = ['<', '<=', '>', '>='] as const;

export type AlertOperator = (typeof ALERT_OPERATORS)[number];
