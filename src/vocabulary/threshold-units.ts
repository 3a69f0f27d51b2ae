/** The units of thresholds. A metric's unit may be another: `info_ms` is compared with seconds. */
export const THRESHOLD_UNITS = [
  'ratio',
  'count',
  'bytes',
  'gigabytes',
  'milliseconds',
  'seconds',
  'hours',
  'days',
  'per_second',
  'per_minute',
  'per_day',
  'bytes_per_hour',
] as const;

/** A unit of {@link THRESHOLD_UNITS}. */
export type ThresholdUnit = (typeof THRESHOLD_UNITS)[number];
