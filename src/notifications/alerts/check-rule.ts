import { everyCheck } from '../../checks/catalogue.ts';
import { CHECK_METRICS } from '../../checks/check-metrics.ts';
import { isOwnCheckId, ownMetrics } from '../../checks/own/own-check.ts';
import { engineVitals } from '../../checks/vitals/engine-vitals.ts';
import { invalidParameter } from '../../platform/rejection.ts';
import { nearestWord } from '../../platform/text/nearest-word.ts';
import {
  ALERT_METRICS,
  ALERT_OPERATORS,
  type AlertMetric,
  type AlertOperator,
} from '../../vocabulary/alert-metrics.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import { compares, type RuleCondition, type RuleSettings } from './alert-rule.ts';

/** The longest `for` and the longest time between reminders, in seconds: 30 days. */
const LONGEST_SECONDS = 30 * 86_400;
const SHORTEST_REMINDER = 300;
const MOST_RUNS = 100;
const MOST_INTERVALS = 100;
const MOST_FINDINGS = 10_000;
const HORIZON_DAYS = 3 * 365;

/** How a metric's rules are written: which operators it has, and which values it can have at all. */
interface Range {
  operators: readonly AlertOperator[];
  least: number;
  most: number;
  /** The noun of a sentence. */
  what: string;
}

const BELOW = ['<', '<='] as const;
const ABOVE = ['>', '>='] as const;

const RANGES: Readonly<Record<AlertMetric, Range>> = {
  score: { operators: BELOW, least: 0, most: 100, what: 'A score' },
  unreachable_seconds: { operators: ABOVE, least: 0, most: Infinity, what: 'The time without an answer' },
  intervals_since_check: { operators: ABOVE, least: 0, most: Infinity, what: 'The time since a check' },
  findings_critical: { operators: ABOVE, least: 0, most: Infinity, what: 'The number of findings' },
  findings_warning: { operators: ABOVE, least: 0, most: Infinity, what: 'The number of findings' },
  measure: { operators: ALERT_OPERATORS, least: 0, most: Infinity, what: 'A measured value' },
  days_left: { operators: BELOW, least: 0, most: HORIZON_DAYS, what: 'The number of days left' },
  blocked_seconds: { operators: ABOVE, least: 0, most: Infinity, what: 'The longest wait for a lock' },
  blocked_sessions: { operators: ABOVE, least: 0, most: Infinity, what: 'The number of blocked sessions' },
  load_active_sessions: {
    operators: ABOVE,
    least: 0,
    most: Infinity,
    what: 'The number of active sessions',
  },
};

/**
 * Throws a {@link Rejection} for a rule that is not well formed, that can never hold, that always holds, or that could
 * never be over again.
 */
export function requireRule(rule: RuleSettings): void {
  requireText(rule.name);
  if (!ALERT_METRICS.includes(rule.metric)) {
    reject('metric', `The metric must be one of ${ALERT_METRICS.join(', ')}.`);
  }
  if (!SEVERITIES.includes(rule.severity)) {
    reject('severity', `The severity must be one of ${SEVERITIES.join(', ')}.`);
  }
  requireSubject(rule);
  requireThreshold(rule);
  requireDuration(rule);
  const { reminder_seconds: reminder } = rule;
  if (reminder !== null && !isWhole(reminder, SHORTEST_REMINDER, LONGEST_SECONDS)) {
    reject('reminder_seconds', 'The time between reminders must be from 5m to 30d, or none.');
  }
}

function reject(parameter: string, message: string): never {
  throw invalidParameter(parameter, message);
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}

function requireText(name: string): void {
  if (name.trim() !== name || name.length < 1 || name.length > 200 || /\p{Cc}/u.test(name)) {
    reject('name', 'The name must be 1 to 200 characters long, without control characters.');
  }
}

function requireSubject(rule: RuleCondition): void {
  const { metric, check_id, measure } = rule;
  switch (metric) {
    case 'findings_critical':
    case 'findings_warning':
      if (measure !== null) reject('measure', `${metric} counts findings: leave out the measure.`);
      if (check_id !== null) requireSeverity(metric, check_id);
      return;
    case 'measure':
      if (measure === null || check_id === null) {
        reject(
          'measure',
          'Name the check and its measure, such as PG_CONN_SATURATION.connections_used_ratio.',
        );
      }
      requireMeasure(check_id, measure);
      return;
    case 'days_left':
      if (check_id !== null && measure !== null) requireMeasure(check_id, measure);
      else if (check_id !== null && check_id !== '') requireCheckId(check_id);
      return;
    default:
      if (check_id !== null) reject('check_id', `${metric} is about the whole server: leave out the check.`);
      if (measure !== null) reject('measure', `${metric} is about the whole server: leave out the measure.`);
  }
}

/** The check of an id; of an own check what a rule needs. Whether the account has it is seen when the rule is evaluated. */
function requireCheckId(id: string): Pick<(typeof everyCheck)[number], 'maxSeverity'> {
  if (isOwnCheckId(id)) return { maxSeverity: 'critical' };
  const check = everyCheck.find((one) => one.id === id);
  if (check) return check;
  const ids = everyCheck.map((one) => one.id);
  return reject('check_id', `There is no check ${shown(id)}${suggestion(id, ids)}`);
}

function requireSeverity(metric: AlertMetric, id: string): void {
  const { maxSeverity } = requireCheckId(id);
  const isNever = metric === 'findings_critical' ? maxSeverity !== 'critical' : maxSeverity === 'info';
  if (isNever) {
    reject(
      'check_id',
      `This rule can never hold: the findings of ${id} are at most of severity ${maxSeverity}.`,
    );
  }
}

const VITALS = [
  ...new Set(Object.values(engineVitals).flatMap(({ vitals }) => vitals.map(({ metric }) => metric))),
];

function metricsOf(checkId: string): readonly string[] {
  requireCheckId(checkId);
  return isOwnCheckId(checkId) ? ownMetrics(checkId) : (CHECK_METRICS[checkId] ?? []);
}

function requireMeasure(checkId: string, measure: string): void {
  const known = checkId === '' ? VITALS : metricsOf(checkId);
  if (known.includes(measure)) return;
  if (known.length === 0) reject('measure', `${checkId} measures no number: count its findings instead.`);
  const owner = checkId === '' ? 'There is no vital' : `${checkId} does not measure`;
  reject('measure', `${owner} ${shown(measure)}${suggestion(measure, known)} Known: ${known.join(', ')}.`);
}

// An unknown word may be anything that somebody pasted.
function shown(word: string): string {
  return /^\w{1,60}$/.test(word) ? word : 'of this name';
}

function suggestion(word: string, known: readonly string[]): string {
  const near = word.length > 60 ? undefined : nearestWord(word, known);
  return near === undefined ? '.' : `: did you mean ${near}?`;
}

function requireThreshold({ metric, operator, threshold, clear_threshold: clear }: RuleCondition): void {
  const { operators, least, most, what } = RANGES[metric];
  if (!operators.includes(operator))
    reject('operator', `${metric} is compared by ${operators.join(' or ')}.`);
  if (!Number.isFinite(threshold)) reject('threshold', 'The threshold must be a number.');
  const isBelow = operator === '<' || operator === '<=';
  if (!compares(isBelow ? least : most, operator, threshold)) {
    const edge = isBelow ? `is never below ${least}` : `is never above ${most}`;
    reject('threshold', `This rule can never hold: ${inSentence(what)} ${edge}.`);
  }
  if (compares(isBelow ? most : least, operator, threshold)) {
    const edge = isBelow ? `is never above ${most}` : `is never below ${least}`;
    reject('threshold', `This rule would always hold: ${inSentence(what)} ${edge}.`);
  }
  requireSize(metric, operator, threshold);
  if (clear === null) return;
  if (metric === 'unreachable_seconds' || metric === 'intervals_since_check') {
    reject(
      'clear_threshold',
      `${metric} is over with the next check that reaches the server: leave out the clearing value.`,
    );
  }
  if (!Number.isFinite(clear)) reject('clear_threshold', 'The clearing value must be a number.');
  if (isBelow ? clear < threshold : clear > threshold) {
    const side = isBelow ? 'at or above' : 'at or below';
    reject(
      'clear_threshold',
      `The clearing value is on the wrong side: it must be ${side} the threshold ${threshold}.`,
    );
  }
  if (compares(isBelow ? most : least, operator, clear)) {
    const edge = isBelow ? `is never above ${most}` : `is never below ${least}`;
    reject('clear_threshold', `An alert of this rule could never clear: ${inSentence(what)} ${edge}.`);
  }
}

function requireSize(metric: AlertMetric, operator: AlertOperator, threshold: number): void {
  if (metric === 'unreachable_seconds' && threshold > LONGEST_SECONDS) {
    reject('threshold', 'The time without an answer must be at most 30 days.');
  }
  if (metric === 'blocked_seconds' && threshold > LONGEST_SECONDS) {
    reject('threshold', 'The longest wait for a lock must be at most 30 days.');
  }
  if (metric === 'intervals_since_check' && !(threshold >= 2 && threshold <= MOST_INTERVALS)) {
    reject(
      'threshold',
      `Give 2 to ${MOST_INTERVALS} intervals: with fewer the rule would hold between any two checks.`,
    );
  }
  const counts = metric === 'findings_critical' || metric === 'findings_warning';
  if (counts && !isWhole(threshold, operator === '>' ? 0 : 1, MOST_FINDINGS)) {
    reject('threshold', `The number of findings must be a whole number up to ${MOST_FINDINGS}.`);
  }
}

function requireDuration({ metric, for_seconds, for_runs }: RuleCondition): void {
  if (!isWhole(for_seconds, 0, LONGEST_SECONDS)) {
    reject('for_seconds', 'The time that the condition must hold must be from 0 seconds to 30 days.');
  }
  if (!isWhole(for_runs, 1, MOST_RUNS)) {
    reject('for_runs', `The number of runs in which the condition must hold must be from 1 to ${MOST_RUNS}.`);
  }
  const isDuration = metric === 'unreachable_seconds' || metric === 'intervals_since_check';
  if (isDuration && (for_seconds > 0 || for_runs > 1)) {
    const field = for_seconds > 0 ? 'for_seconds' : 'for_runs';
    reject(
      field,
      `${metric} is a time already: raise the threshold instead of asking how long it must hold.`,
    );
  }
}

function inSentence(what: string): string {
  return what[0]?.toLowerCase() + what.slice(1);
}
