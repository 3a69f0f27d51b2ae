import type pg from 'pg';
import { notFound } from '../../platform/rejection.ts';
import type { AlertMetric, AlertOperator } from '../../vocabulary/alert-metrics.ts';
import type { Severity } from '../../vocabulary/severities.ts';

/** What a rule compares, and when it holds or is over. */
export interface RuleCondition {
  metric: AlertMetric;
  /** Of `findings_critical`, `findings_warning`, `measure` and `days_left`; of a measure, '' = a vital. Null = all checks. */
  check_id: string | null;
  /** The name of the measure, for `measure` and `days_left`. */
  measure: string | null;
  operator: AlertOperator;
  threshold: number;
  /** An open alert is over once the value no longer holds against this number. Null = the threshold. */
  clear_threshold: number | null;
  /** How long it must hold, in seconds. */
  for_seconds: number;
  /** In how many runs in a row it must hold. */
  for_runs: number;
}

/** What an account decides of a rule. */
export interface RuleSettings extends RuleCondition {
  name: string;
  severity: Severity;
  /** Null = any; a connection is covered that is listed here, or whose name matches. */
  connection_ids: readonly number[] | null;
  /** Patterns with `*`. Null = any. */
  connection_names: readonly string[] | null;
  /** Null = all destinations. */
  destination_ids: readonly number[] | null;
  /** Null = no reminders. */
  reminder_seconds: number | null;
  is_enabled: boolean;
}

/** An alert rule, as commands and the console show it. */
export interface RuleRow extends RuleSettings {
  id: number;
  /** The name of the preset; null = added by a member. */
  preset: string | null;
  created_at: Date;
}

/** What an evaluation needs of a rule. */
export type WatchedRule = Omit<RuleRow, 'preset' | 'created_at' | 'is_enabled'>;

const columns = [
  'name',
  'metric',
  'check_id',
  'measure',
  'operator',
  'threshold',
  'clear_threshold',
  'for_seconds',
  'for_runs',
  'severity',
  'connection_ids',
  'connection_names',
  'destination_ids',
  'reminder_seconds',
];

/** The columns of a {@link WatchedRule}. */
export const watchedRuleColumns = ['rule_id as id', ...columns].join(', ');

/** The columns of a {@link RuleRow}. */
export const ruleColumns = `${watchedRuleColumns}, is_enabled, preset, created_at`;

const ownerOf = 'select account_id from alert_rule where rule_id = $1 and removed_at is null';

/** The rule's account. Throws `notFound`. */
export async function accountOfRule(writer: pg.Pool, id: number): Promise<number> {
  const { rows } = await writer.query<{ account_id: number }>(ownerOf, [id]);
  const [row] = rows;
  if (!row) throw notFound('alert rule', id, ': see "alert rule list".');
  return row.account_id;
}

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
