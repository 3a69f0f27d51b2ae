import type { AlertMetric, AlertOperator } from '../../vocabulary/alert-metrics.ts';
import type { Severity } from '../../vocabulary/severities.ts';

/** What messages say of an alert. Stored as `alert.details`. */
export interface AlertDetails {
  /** The rule's name when it was evaluated last. */
  rule_name: string;
  check_id: string | null;
  /** '' = the whole server. */
  database: string;
  /** The object with the worst value. Null = the whole server or database. */
  object: string | null;
  /** The value in words. */
  metric_line: string;
  /** Of the worst finding. */
  remediation: string | null;
  /** The worst value since it was triggered. */
  worst: number;
  /** Findings by check, for rules that count them: a check that is not measured keeps its number. */
  counts?: Readonly<Record<string, number>>;
  /** The condition is over, but the alert flaps and stays open. */
  is_clear?: true;
}

/** An alert that stands (pending or open), or was resolved within the last 24 h. Instants are RFC 3339. */
export interface StandingAlert {
  alert_id: number;
  rule_id: number;
  state: 'pending' | 'open' | 'resolved';
  /** When the condition began to hold. */
  since: string;
  runs: number;
  /** As the payload names it. */
  metric: string;
  operator: AlertOperator;
  threshold: number;
  /** When it was triggered. */
  value: number;
  details: AlertDetails;
  severity: Severity;
  triggered_at: string | null;
  /** When `alert.triggered` was queued. Null = held back, or no destination. */
  announced_at: string | null;
  reminded_at: string | null;
  acknowledged_at: string | null;
  /** Null = until it is resolved. */
  acknowledged_until: string | null;
  /** When it opened again, and those before it, within 24 h. */
  reopened_at: readonly string[];
  resolved_at: string | null;
  resolution: string | null;
}

/** Why an alert was resolved. Only the first is good news. */
export const RESOLUTIONS = {
  cleared: 'the condition no longer holds',
  silenced: 'a member silenced its finding',
  connectionRemoved: 'the connection was removed',
  ruleRemoved: 'the rule was removed',
  ruleDisabled: 'the rule was disabled',
  ruleChanged: 'the rule was changed',
  notCovered: 'the rule no longer covers this connection',
} as const;

/** An alert, as commands and the console show it. */
export interface AlertRow {
  id: number;
  rule_id: number;
  rule_name: string;
  connection_id: number;
  connection_name: string;
  state: 'open' | 'resolved';
  severity: Severity;
  /** What the rule compares; `metric` is what the payload says. */
  rule_metric: AlertMetric;
  metric: string;
  operator: AlertOperator;
  threshold: number;
  value: number;
  details: AlertDetails;
  since: Date;
  triggered_at: Date;
  announced_at: Date | null;
  reminded_at: Date | null;
  acknowledged_at: Date | null;
  acknowledged_until: Date | null;
  acknowledged_by: string | null;
  acknowledged_note: string | null;
  resolved_at: Date | null;
  resolution: string | null;
}

/** The columns of an {@link AlertRow}, of `alert a join alert_rule r join connection c`. */
export const alertColumns = `
  a.alert_id as id, a.rule_id, r.name as rule_name, a.connection_id, c.name as connection_name, a.state, a.severity,
  r.metric as rule_metric, a.metric, a.operator, a.threshold, a.value, a.details, a.since, a.triggered_at,
  a.announced_at, a.reminded_at, a.acknowledged_at, a.acknowledged_until, a.acknowledged_by, a.acknowledged_note,
  a.resolved_at, a.resolution`;
