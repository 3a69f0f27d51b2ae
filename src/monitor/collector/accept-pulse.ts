import { OWN_OPERATORS, OWN_UNITS, type OwnCheck } from '../../checks/own/own-check.ts';
import { requireOwnCheck } from '../../connections/own-checks/own-check-rules.ts';
import type { PulseRule } from '../../notifications/alerts/evaluation/pulse-rules.ts';
import { Rejection } from '../../platform/rejection.ts';
import { ALERT_OPERATORS, PULSE_METRICS } from '../../vocabulary/alert-metrics.ts';
import { SQL_ENGINES } from '../../vocabulary/engines.ts';
import type { CollectedPulse } from '../pulse/load-pulse.ts';
import { type Fields, fieldsIn, InvalidJob, isText, listIn } from './job-fields.ts';

/** The shortest and the longest time between pulses, in seconds. */
const EVERY = { least: 1, most: 3_600 };

/** The pulse of a job; null if it has none. Throws {@link InvalidJob}. */
export function acceptPulse(value: unknown): CollectedPulse | null {
  if (value === null || value === undefined) return null;
  const { every, thresholds } = fieldsIn(value);
  if (typeof every !== 'number' || every < EVERY.least || every > EVERY.most) throw new InvalidJob('a pulse');
  const { blockedSeconds, connections, rules } = fieldsIn(thresholds);
  return {
    every,
    thresholds: {
      blockedSeconds: acceptLevels(blockedSeconds),
      connections: acceptLevels(connections),
      rules: listIn(rules).flatMap((one) => acceptRule(fieldsIn(one))),
    },
  };
}

function acceptLevels(value: unknown): { warning: number; critical: number } {
  const { warning, critical } = fieldsIn(value);
  return { warning: acceptLevel(warning), critical: acceptLevel(critical) };
}

/** JSON has no infinity. */
function acceptLevel(value: unknown): number {
  if (value === null) return Number.POSITIVE_INFINITY;
  return numberIn(value);
}

/** None if a newer service has a metric or an operator that this version does not know. */
function acceptRule(fields: Fields): PulseRule[] {
  const { id, metric: named, operator: sign, threshold, clear_threshold, for_seconds } = fields;
  if (!isText(named) || !isText(sign)) throw new InvalidJob('a rule');
  const metric = PULSE_METRICS.find((one) => one === named);
  const operator = ALERT_OPERATORS.find((one) => one === sign);
  if (!metric || !operator) return [];
  const rule = {
    id: numberIn(id),
    metric,
    operator,
    threshold: numberIn(threshold),
    clear_threshold: clear_threshold === null ? null : numberIn(clear_threshold),
    for_seconds: numberIn(for_seconds),
  } as PulseRule;
  return [rule];
}

/**
 * The own checks of a job. Their statements are parsed again where they run, and what this version refuses is not measured: a
 * service of another version may allow it. Throws {@link InvalidJob}.
 */
export function acceptOwnChecks(value: unknown): OwnCheck[] {
  return value === undefined ? [] : listIn(value).flatMap((one) => acceptOwnCheck(fieldsIn(one)));
}

/** None if a newer service has an engine, a unit or an operator that this version does not know. */
function acceptOwnCheck(fields: Fields): OwnCheck[] {
  const { id, title, database, sql, warning, critical, remediation, every, timeout } = fields;
  const engine = SQL_ENGINES.find((one) => one === fields['engine']);
  const unit = OWN_UNITS.find((one) => one === fields['unit']);
  const operator = OWN_OPERATORS.find((one) => one === fields['operator']);
  const words = [fields['engine'], fields['unit'], fields['operator']];
  const areTexts =
    [id, title, sql, remediation, ...words].every(isText) && (database === null || isText(database));
  if (!areTexts) throw new InvalidJob('an own check');
  if (!engine || !unit || !operator) return [];
  const own = {
    id: String(id),
    title: String(title),
    engine,
    database: database === null ? null : String(database),
    sql: String(sql),
    unit,
    operator,
    remediation: String(remediation),
    warning: warning === null ? null : numberIn(warning),
    critical: critical === null ? null : numberIn(critical),
    every: every === null ? null : numberIn(every),
    timeout: numberIn(timeout),
    tags: listIn(fields['tags']).filter(isText),
  };
  try {
    return [requireOwnCheck(own)];
  } catch (error) {
    if (error instanceof Rejection && error.parameter === 'sql') return [own];
    throw new InvalidJob('an own check');
  }
}

function numberIn(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new InvalidJob('a number is missing');
  return value;
}
