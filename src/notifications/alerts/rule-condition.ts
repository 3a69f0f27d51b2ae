import { invalidParameter } from '../../platform/rejection.ts';
import { secondsOf } from '../../platform/text/duration.ts';
import { nearestWord } from '../../platform/text/nearest-word.ts';
import { ALERT_METRICS, ALERT_OPERATORS, type AlertMetric } from '../../vocabulary/alert-metrics.ts';
import type { RuleCondition, RuleSettings } from './alert-rule.ts';

/** What a rule compares, without how long it must hold. */
export type Comparison = Pick<RuleCondition, 'metric' | 'check_id' | 'measure' | 'operator' | 'threshold'>;

/** How a condition is written, for help and messages. */
export const CONDITION_EXAMPLES =
  '"score < 50", "unreachable_seconds >= 10m", "findings_critical PG_XID_WRAPAROUND >= 1", "PG_CONN_SATURATION.connections_used_ratio >= 0.9", "vital.connections_count > 500", "days_left < 7", "blocked_seconds >= 45s", "load_active_sessions > 20"';

const WRITTEN = /^\s*([A-Za-z_][\w.]*)(?:\s+([A-Za-z_][\w.]*))?\s*(<=|>=|<|>)\s*(\S+)\s*$/;
const VITAL = 'vital';
const DURATIONS: readonly AlertMetric[] = ['unreachable_seconds', 'blocked_seconds'];

/** Parses a condition as people write it, such as `score < 50`. Throws a {@link Rejection}. */
export function parseCondition(text: string): Comparison {
  const [, subject, place, sign, number] = (text.length <= 300 && WRITTEN.exec(text)) || [];
  const operator = ALERT_OPERATORS.find((one) => one === sign);
  if (subject === undefined || number === undefined || operator === undefined) {
    return rejected(`Write what is compared, <, <=, > or >=, and a number: ${CONDITION_EXAMPLES}.`);
  }
  const comparison = { ...subjectOf(subject, place), operator };
  const seconds = DURATIONS.includes(comparison.metric) ? secondsOf(number) : undefined;
  const threshold = seconds ?? Number(number);
  if (!Number.isFinite(threshold)) rejected('The number of the condition is not a number.');
  return { ...comparison, threshold };
}

function subjectOf(subject: string, place: string | undefined): Omit<Comparison, 'operator' | 'threshold'> {
  const metric = ALERT_METRICS.find((one) => one === subject);
  if (metric === undefined || metric === 'measure') {
    if (place !== undefined || !subject.includes('.')) return unknownSubject(subject);
    return { metric: 'measure', ...placeOf(subject) };
  }
  if (place === undefined) return { metric, check_id: null, measure: null };
  return { metric, ...(place.includes('.') ? placeOf(place) : { check_id: place, measure: null }) };
}

function placeOf(text: string): { check_id: string; measure: string } {
  const [check = '', ...measure] = text.split('.');
  return { check_id: check === VITAL ? '' : check, measure: measure.join('.') };
}

function unknownSubject(subject: string): never {
  const words: readonly AlertMetric[] = ALERT_METRICS.filter((metric) => metric !== 'measure');
  const near = subject.length > 60 ? undefined : nearestWord(subject, words);
  const meant = near === undefined ? '' : ` Did you mean ${near}?`;
  return rejected(
    `A condition compares ${words.join(', ')}, or a measure such as PG_CONN_SATURATION.connections_used_ratio or vital.connections_count.${meant}`,
  );
}

function rejected(message: string): never {
  throw invalidParameter('when', message);
}

/** Writes a condition as {@link parseCondition} reads it. */
export function conditionText({ metric, check_id, measure, operator, threshold }: Comparison): string {
  return `${subjectText(metric, check_id, measure)} ${operator} ${threshold}`;
}

function subjectText(metric: AlertMetric, check_id: string | null, measure: string | null): string {
  const place =
    check_id === null ? null : [check_id || VITAL, ...(measure === null ? [] : [measure])].join('.');
  if (metric === 'measure') return place ?? metric;
  return place === null ? metric : `${metric} ${place}`;
}

const REMINDER_SECONDS = 43_200;

/** The settings of a new rule: those given, and the defaults. An `info` is not repeated unless somebody says so. */
export function newRule(
  comparison: Comparison,
  given: Partial<Omit<RuleSettings, keyof Comparison>> = {},
): RuleSettings {
  const { severity = 'warning' } = given;
  return {
    ...comparison,
    name: conditionText(comparison),
    severity,
    clear_threshold: null,
    for_seconds: 0,
    for_runs: 1,
    connection_ids: null,
    connection_names: null,
    destination_ids: null,
    reminder_seconds: severity === 'info' ? null : REMINDER_SECONDS,
    is_enabled: true,
    ...given,
  };
}
