import type { RuleSettings } from '../../notifications/alerts/alert-rule.ts';
import { requireRule } from '../../notifications/alerts/check-rule.ts';
import { type Comparison, newRule, parseCondition } from '../../notifications/alerts/rule-condition.ts';
import { durationOf, textOf } from '../arguments.ts';
import { noteRepeated, type ReadFile } from './configuration-file.ts';
import type { WrittenRule } from './configuration-schema.ts';
import type { Path } from './schema-problems.ts';

/** The desired state of an alert rule. */
export interface DesiredRule extends Omit<RuleSettings, 'connection_ids' | 'destination_ids'> {
  path: Path;
  /** Names of destinations; null = all. */
  destinations: readonly string[] | null;
}

const UNKNOWN: Comparison = { metric: 'score', check_id: null, measure: null, operator: '<', threshold: 50 };

/** Parses the alert rules of an account, and notes their problems. */
export function alertRulesIn(file: ReadFile, path: Path, written: readonly WrittenRule[]): DesiredRule[] {
  noteRepeated(file, path, written, 'name', ({ name }) => name.trim());
  return written.map((one, at) => {
    const field = <T>(of: string, parse: () => T) => file.attempt([...path, at, of], parse);
    const { for: held, remind, connections, severity = 'warning', enabled = true, clear, runs = 1 } = one;
    const when = field('when', () => parseCondition(one.when));
    const rule = newRule(when ?? UNKNOWN, {
      name: field('name', () => textOf('The name')(one.name)) ?? '',
      ...{ severity, clear_threshold: clear ?? null, for_runs: runs, is_enabled: enabled },
      for_seconds:
        held === undefined ? 0 : (field('for', () => durationOf('The time', '0s', '30d')(held)) ?? 0),
      connection_names: connections ?? null,
      ...(remind !== undefined && { reminder_seconds: field('remind', () => reminderOf(remind)) ?? null }),
    });
    if (when !== undefined) file.attempt([...path, at], () => requireRule(rule));
    const { connection_ids: _, destination_ids: __, ...desired } = rule;
    return { ...desired, path: [...path, at], destinations: one.destinations ?? null };
  });
}

function reminderOf(text: string): number | null {
  return text === 'none' ? null : durationOf('The time between reminders', '5m', '30d')(text);
}
