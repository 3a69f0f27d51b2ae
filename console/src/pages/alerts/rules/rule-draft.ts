import type { AlertRule, NewRule } from '../../../../../src/console-api/alerts/alert-schemas.ts';
import { type Unit, unitOf } from '../../../../../src/vocabulary/units.ts';
import { ALL_CONNECTIONS, scopeDraft, scopeOf } from '../../../parts/connection-choice.tsx';
import { numberError, numberIn } from '../../../parts/number-in.ts';

type Metric = NewRule['metric'];

/** How a metric is entered: in which unit, how it is compared, and which fields it has. */
export interface MetricForm {
  label: string;
  /** Of a measure, its own unit. */
  unit: string;
  /** Stored units in one that is entered. */
  scale: number;
  operators: readonly NewRule['operator'][];
  threshold: string;
  clears: boolean;
  lasts: boolean;
}

const ABOVE = ['>=', '>'] as const;
const BELOW = ['<', '<='] as const;

/** Of most metrics. */
const USUAL = { unit: '', scale: 1, operators: ABOVE, clears: true, lasts: true } as const;

export const METRIC_FORMS: Record<Metric, MetricForm> = {
  score: { ...USUAL, label: 'Health score', operators: BELOW, threshold: '50' },
  unreachable_seconds: {
    ...USUAL,
    label: 'Unreachable',
    unit: 'minutes',
    scale: 60,
    threshold: '10',
    clears: false,
    lasts: false,
  },
  intervals_since_check: {
    ...USUAL,
    label: 'No health check',
    unit: 'intervals',
    operators: ['>', '>='],
    threshold: '3',
    clears: false,
    lasts: false,
  },
  findings_critical: { ...USUAL, label: 'Critical findings', unit: 'findings', threshold: '1' },
  findings_warning: { ...USUAL, label: 'Warnings', unit: 'findings', threshold: '1' },
  measure: { ...USUAL, label: 'Measured value', operators: [...ABOVE, ...BELOW], threshold: '' },
  days_left: { ...USUAL, label: 'Days until full', unit: 'days', operators: BELOW, threshold: '14' },
  blocked_seconds: { ...USUAL, label: 'Longest wait for a lock', unit: 'seconds', threshold: '30' },
  blocked_sessions: { ...USUAL, label: 'Blocked sessions', unit: 'sessions', threshold: '5' },
  load_active_sessions: { ...USUAL, label: 'Active sessions', unit: 'sessions', threshold: '20' },
};

const MEASURE_UNITS: Record<Unit, { unit: string; scale: number }> = {
  ratio: { unit: '%', scale: 0.01 },
  bytes: { unit: 'MB', scale: 1_048_576 },
  bytes_per_second: { unit: 'MB/s', scale: 1_048_576 },
  seconds: { unit: 'seconds', scale: 1 },
  per_second: { unit: 'per second', scale: 1 },
  count: { unit: '', scale: 1 },
};

export const NEW_RULE = {
  name: '',
  metric: 'score' as Metric,
  /** `check_id` and `measure` of a measured value, separated by a space; a vital begins with the space. */
  measure: '',
  /** Of findings; '' = any. */
  check_id: '',
  operator: '<' as NewRule['operator'],
  threshold: '50',
  clear: '',
  /** Minutes that the condition must hold. */
  minutes: '0',
  runs: '1',
  severity: 'warning' as NewRule['severity'],
  /** Hours; '' = none. */
  reminder: '12',
  destinations: 'all' as 'all' | 'chosen',
  destination_ids: [] as number[],
  is_enabled: true,
  ...ALL_CONNECTIONS,
};

/** What is entered in the form of a rule: numbers are texts, in the units that people write. */
export type RuleDraft = typeof NEW_RULE;

/** Unit and scale of the threshold in a draft. */
export function entered({ metric, measure }: Pick<RuleDraft, 'metric' | 'measure'>): {
  unit: string;
  scale: number;
} {
  return metric === 'measure' ? MEASURE_UNITS[unitOf(measure)] : METRIC_FORMS[metric];
}

/** Another metric, with its usual comparison. */
export function withMetric(draft: RuleDraft, metric: Metric): RuleDraft {
  const { operators, threshold } = METRIC_FORMS[metric];
  const [operator = draft.operator] = operators;
  return {
    ...draft,
    metric,
    operator,
    threshold,
    clear: '',
    measure: '',
    check_id: '',
    minutes: '0',
    runs: '1',
  };
}

/** The form's values of a stored rule. */
export function draftOf(rule: AlertRule): RuleDraft {
  const measure = rule.measure === null ? '' : `${rule.check_id ?? ''} ${rule.measure}`;
  const { scale } = entered({ metric: rule.metric, measure });
  const inUnit = (value: number) => String(Number((value / scale).toPrecision(12)));
  return {
    name: rule.name,
    metric: rule.metric,
    measure,
    operator: rule.operator,
    severity: rule.severity,
    check_id: rule.measure === null ? (rule.check_id ?? '') : '',
    threshold: inUnit(rule.threshold),
    clear: rule.clear_threshold === null ? '' : inUnit(rule.clear_threshold),
    minutes: String(rule.for_seconds / 60),
    runs: String(rule.for_runs),
    reminder: rule.reminder_seconds === null ? '' : String(rule.reminder_seconds / 3_600),
    destinations: rule.destination_ids === null ? 'all' : 'chosen',
    destination_ids: rule.destination_ids ?? [],
    is_enabled: rule.is_enabled,
    ...scopeDraft(rule.connections),
  };
}

/** Whether every number field holds a number or is empty. */
export function hasNumbers({ threshold, clear, minutes, runs, reminder }: RuleDraft): boolean {
  return [threshold, clear, minutes, runs, reminder].every((text) => numberError(text) === null);
}

/** The rule that a form describes. A missing number is NaN, which the service rejects with a sentence. */
export function ruleOf(draft: RuleDraft): NewRule {
  const { name, metric, operator, severity, is_enabled, destinations, destination_ids } = draft;
  const { scale } = entered(draft);
  const { clears, lasts } = METRIC_FORMS[metric];
  const [check_id = '', measure = ''] = draft.measure.split(' ');
  const isMeasured = measure !== '' && (metric === 'measure' || metric === 'days_left');
  const number = (text: string) => Number((numberOf(text) * scale).toPrecision(15));
  return {
    name,
    metric,
    operator,
    severity,
    is_enabled,
    check_id: isMeasured ? check_id : draft.check_id || null,
    measure: isMeasured ? measure : null,
    threshold: number(draft.threshold),
    clear_threshold: !clears || draft.clear.trim() === '' ? null : number(draft.clear),
    for_seconds: lasts ? Math.round(numberOf(draft.minutes) * 60) : 0,
    for_runs: lasts ? numberOf(draft.runs) : 1,
    connections: scopeOf(draft),
    destination_ids: destinations === 'all' ? null : destination_ids,
    reminder_seconds: draft.reminder.trim() === '' ? null : Math.round(numberOf(draft.reminder) * 3_600),
  };
}

function numberOf(text: string): number {
  return numberIn(text) ?? Number.NaN;
}
