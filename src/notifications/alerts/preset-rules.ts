import type pg from 'pg';
import type { RuleSettings } from './alert-rule.ts';

/** A rule that every account starts with. */
type PresetRule = Pick<
  RuleSettings,
  | 'name'
  | 'metric'
  | 'operator'
  | 'threshold'
  | 'clear_threshold'
  | 'for_seconds'
  | 'for_runs'
  | 'severity'
  | 'reminder_seconds'
> & { preset: string };

const REMINDER_SECONDS = 43_200;

/** The rules that every account starts with. Migration 0017 gives them to the accounts that existed before it. */
const PRESET_RULES: readonly PresetRule[] = [
  {
    preset: 'score',
    name: 'Score below 50',
    metric: 'score',
    operator: '<',
    threshold: 50,
    clear_threshold: 55,
    for_seconds: 0,
    for_runs: 2,
    severity: 'critical',
    reminder_seconds: REMINDER_SECONDS,
  },
  {
    preset: 'unreachable',
    name: 'Unreachable for 10 minutes',
    metric: 'unreachable_seconds',
    operator: '>=',
    threshold: 600,
    clear_threshold: null,
    for_seconds: 0,
    for_runs: 1,
    severity: 'critical',
    reminder_seconds: REMINDER_SECONDS,
  },
  {
    preset: 'stale',
    name: 'No check for three intervals',
    metric: 'intervals_since_check',
    operator: '>',
    threshold: 3,
    clear_threshold: null,
    for_seconds: 0,
    for_runs: 1,
    severity: 'warning',
    reminder_seconds: REMINDER_SECONDS,
  },
];

/** The rules of a new account, with all their settings. */
export const NEW_RULES: readonly (RuleSettings & { preset: string })[] = PRESET_RULES.map((rule) => ({
  check_id: null,
  measure: null,
  connection_ids: null,
  connection_names: null,
  destination_ids: null,
  is_enabled: true,
  ...rule,
}));

const insert = `
  insert into alert_rule (account_id, name, preset, metric, operator, threshold, clear_threshold, for_seconds, for_runs,
                          severity, reminder_seconds, created_at)
  select $1, name, preset, metric, operator, threshold, clear_threshold, for_seconds, for_runs, severity,
         reminder_seconds, $2
    from jsonb_to_recordset($3)
      as p (name text, preset text, metric text, operator text, threshold float8, clear_threshold float8,
            for_seconds integer, for_runs smallint, severity text, reminder_seconds integer)`;

/** Gives a new account its rules, in the transaction that adds it. */
export async function addPresetRules(client: pg.ClientBase, accountId: number, at: string): Promise<void> {
  await client.query(insert, [accountId, at, JSON.stringify(PRESET_RULES)]);
}
