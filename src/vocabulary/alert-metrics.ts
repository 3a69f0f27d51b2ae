/**
 * What a rule compares with its threshold: the score; seconds since the connection was last reached; intervals of its
 * health checks since the last one; how many findings are critical, or warnings and worse; a measured value; days until it is full;
 * what pulses see: the longest wait for a lock, how many sessions wait for one, and the average of active sessions in a minute.
 */
export const ALERT_METRICS = [
  'score',
  'unreachable_seconds',
  'intervals_since_check',
  'findings_critical',
  'findings_warning',
  'measure',
  'days_left',
  'blocked_seconds',
  'blocked_sessions',
  'load_active_sessions',
] as const;

export type AlertMetric = (typeof ALERT_METRICS)[number];

/** Those that pulses see. */
export const PULSE_METRICS = [
  'blocked_seconds',
  'blocked_sessions',
  'load_active_sessions',
] as const satisfies readonly AlertMetric[];

export type PulseMetric = (typeof PULSE_METRICS)[number];

export const ALERT_OPERATORS = ['<', '<=', '>', '>='] as const;

export type AlertOperator = (typeof ALERT_OPERATORS)[number];
