import type { Severity } from '../vocabulary/severities.ts';
import type { ThresholdUnit } from '../vocabulary/threshold-units.ts';
import { unitOf } from '../vocabulary/units.ts';
import type { Check } from './check.ts';
import { CHECK_METRICS } from './check-metrics.ts';

/** How a value is compared with a threshold from which on it is a fault. */
type Comparison = '>=' | '<=' | '>' | '<';

/** A threshold from which on a measured value is a fault. */
export interface Level {
  /** The name of the threshold, such as `warning_seconds`. */
  name: string;
  severity: Severity;
  metric: string;
  comparison: Comparison;
  /** The metric's value per unit of the threshold: 0.001 s for `info_ms`. */
  factor: number;
}

/** What there is to know of a threshold besides its value. */
export interface ThresholdFacts {
  name: string;
  unit: ThresholdUnit;
  /** Null if no single measured value is compared with it, such as `minimum_rows`. */
  level: Level | null;
  /** Of two values, the one with which the check reports more. */
  stricter: 'lower' | 'higher';
}

/** Metrics that are a fault when low. */
const LOW_IS_BAD: Readonly<Record<string, Comparison>> = {
  backup_size_ratio: '<=',
  cache_hit_ratio: '<=',
  index_scans_ratio: '<=',
  table_cache_hit_ratio: '<=',
  shared_buffers_bytes: '<',
  slot_room_left_seconds: '<=',
  slot_wal_left_ratio: '<',
};

/** Metrics that are a fault above the threshold, not at it. */
const ABOVE: ReadonlySet<string> = new Set(['max_connections_count', 'table_indexes_count']);

/** Thresholds whose metric is not the check's first one. */
const METRIC_OF: Readonly<Record<string, string>> = {
  'MY_REDO_TOO_SMALL.critical_age': 'redo_checkpoint_age_ratio',
  'MY_SLOW_QUERIES.info_ms': 'query_mean_seconds',
  'PG_SLOT_INACTIVE.critical_hours': 'slot_room_left_seconds',
  'PG_UNUSED_INDEX.minimum_bytes': 'unused_index_bytes',
  'PG_XMIN_HELD.warning_transactions': 'vacuum_held_transactions_count',
};

/** Thresholds named like a level that are compared with more than the measured value. */
const NO_LEVEL: ReadonlySet<string> = new Set([
  'MY_BP_WAIT_FREE.warning_waits', // as many as happened since the last run
  'MY_JOINS_NO_INDEX.info_per_day',
  'MY_LOCK_WAITS.warning_seconds', // at most half of innodb_lock_wait_timeout
  'MY_LOCK_WAITS.critical_seconds',
  'MY_REDO_TOO_SMALL.warning', // hours in which the redo log is full
  'PG_PASSWORD_EXPIRING.warning_days', // before the password expires, and after
  'PG_PASSWORD_EXPIRING.critical_days',
]);

/** Checks that judge a value only if enough happened, and report it as compared if it was below its threshold. */
const NEEDS_ACTIVITY: ReadonlySet<string> = new Set([
  'PB_POOL_SATURATION',
  'PG_CACHE_HIT_LOW',
  'PG_CHECKPOINTS_REQUESTED',
  'PG_ROLLBACK_RATIO',
]);

/** Checks of sessions and queries: of an object, a run keeps what has 90 % of the mildest level, and the highest value of all. */
const OF_SESSIONS: ReadonlySet<string> = new Set([
  'MY_LONG_TRX',
  'MY_MDL_WAIT',
  'MY_QUERY_NEW',
  'MY_QUERY_READS',
  'MY_QUERY_SLOWER',
  'MY_SLOW_QUERIES',
  'PB_CLIENTS_WAITING',
  'PG_BLOCKED_SESSIONS',
  'PG_IDLE_IN_TXN',
  'PG_LONG_QUERY',
  'PG_LONG_XACT',
  'PG_PREPARED_XACT_OLD',
  'PG_QUERY_NEW',
  'PG_QUERY_READS',
  'PG_QUERY_SLOWER',
  'PG_SLOW_QUERIES',
  'PG_XMIN_HELD',
]);

/** Words at the end of a threshold's name, with their unit and the value of a metric per unit. */
const ENDINGS: readonly [ending: string, unit: ThresholdUnit, factor: number][] = [
  ['bytes_per_hour', 'bytes_per_hour', 1 / 3_600],
  ['per_minute', 'per_minute', 1 / 60],
  ['per_second', 'per_second', 1],
  ['per_day', 'per_day', 1 / 86_400],
  ['bytes', 'bytes', 1],
  ['gb', 'gigabytes', 1024 ** 3],
  ['ms', 'milliseconds', 1 / 1_000],
  ['seconds', 'seconds', 1],
  ['hours', 'hours', 3_600],
  ['days', 'days', 86_400],
  ['age', 'ratio', 1],
];

const LEVEL = /^(critical|warning|info)(?:_|$)/;

/** The thresholds of a check, in its order. */
export function thresholdFacts(check: Pick<Check, 'id' | 'thresholds' | 'maxSeverity'>): ThresholdFacts[] {
  return Object.keys(check.thresholds ?? {}).map((name) => {
    const level = levelOf(check, name);
    return { name, unit: thresholdUnit(check.id, name), level, stricter: stricterOf(check.id, name, level) };
  });
}

/** Whether a value of the check's metric may be too little to be judged, although it is stored as compared. */
export function needsActivity(checkId: string): boolean {
  return NEEDS_ACTIVITY.has(checkId);
}

/** Whether a run keeps the highest value of a check's objects apart, without its object. */
export function keepsHighest(checkId: string): boolean {
  return OF_SESSIONS.has(checkId);
}

/** Whether a measured value has reached a level that is set to `threshold`. */
export function reaches({ comparison, factor }: Level, value: number, threshold: number): boolean {
  const limit = threshold * factor;
  if (comparison === '>=') return value >= limit;
  if (comparison === '<=') return value <= limit;
  return comparison === '>' ? value > limit : value < limit;
}

function levelOf({ id, maxSeverity }: Pick<Check, 'id' | 'maxSeverity'>, name: string): Level | null {
  const key = `${id}.${name}`;
  const [, word] = LEVEL.exec(name) ?? [];
  const metric = METRIC_OF[key] ?? CHECK_METRICS[id]?.[0];
  if (NO_LEVEL.has(key) || metric === undefined) return null;
  if (word === undefined && !(key in METRIC_OF)) return null;
  return {
    name,
    metric,
    severity: (word as Severity | undefined) ?? maxSeverity,
    comparison: LOW_IS_BAD[metric] ?? (ABOVE.has(metric) ? '>' : '>='),
    factor: endingOf(name)?.[2] ?? 1,
  };
}

function endingOf(name: string) {
  return ENDINGS.find(([ending]) => name === ending || name.endsWith(`_${ending}`));
}

/** The unit of a check's threshold. */
export function thresholdUnit(checkId: string, name: string): ThresholdUnit {
  if (checkId === 'MY_REDO_TOO_SMALL' && name === 'warning') return 'hours';
  const [, unit] = endingOf(name) ?? [];
  if (unit) return unit;
  // `warning` alone is in the unit of the metric; what else has no unit counts things.
  const metric = CHECK_METRICS[checkId]?.[0] ?? '';
  return /^(critical|warning|info)$/.test(name) && unitOf(metric) === 'ratio' ? 'ratio' : 'count';
}

/** Thresholds that report more when higher, although no metric says so. */
const HIGHER_REPORTS_MORE: ReadonlySet<string> = new Set([
  'MY_REDO_TOO_SMALL.warning',
  'PG_CHECKSUM_FAILURES.stands_hours',
  'PG_PASSWORD_EXPIRING.critical_days',
  'PG_PASSWORD_EXPIRING.warning_days',
]);

function stricterOf(checkId: string, name: string, level: Level | null): ThresholdFacts['stricter'] {
  const isLow = level !== null && (level.comparison === '<=' || level.comparison === '<');
  return isLow || HIGHER_REPORTS_MORE.has(`${checkId}.${name}`) ? 'higher' : 'lower';
}
