import { fieldChanges } from '../../activity/field-changes.ts';
import type { ChangeAccount } from '../../activity/record-entry.ts';
import { notFound } from '../../platform/rejection.ts';
import { one } from '../../store/one.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import { includesConnection } from '../connection-scope.ts';
import { RESOLUTIONS } from './alert-row.ts';
import { type RuleRow, type RuleSettings, ruleColumns } from './alert-rule.ts';
import { requireRule } from './check-rule.ts';
import { requireCovered } from './require-covered.ts';
import { endAlertsWithin } from './resolve-alerts-of.ts';

const selectRule = `
  select ${ruleColumns} from alert_rule where account_id = $1 and rule_id = $2 and removed_at is null`;

const update = `
  update alert_rule
     set name = $3, metric = $4, check_id = $5, measure = $6, operator = $7, threshold = $8, clear_threshold = $9,
         for_seconds = $10, for_runs = $11, severity = $12, connection_ids = $13, connection_names = $14,
         destination_ids = $15, reminder_seconds = $16, is_enabled = $17
   where account_id = $1 and rule_id = $2
  returning ${ruleColumns}`;

/**
 * Changes an alert rule. Its open alerts stay, and the next run judges them by the new condition; those of a disabled rule, of
 * another metric, or of connections that it no longer covers are resolved. Throws `notFound` and `RuleRejected`.
 */
export function changeRule(
  change: ChangeAccount,
  ruleId: number,
  changes: Partial<RuleSettings>,
  actor: Record<string, unknown> = {},
  scope: { mayMatchNone?: boolean } = {},
): Promise<RuleRow> {
  return change(async (within) => {
    const { accountId, client, record } = within;
    const { rows: found } = await client.query<RuleRow>(selectRule, [accountId, ruleId]);
    const [before] = found;
    if (!before) throw notFound('alert rule', ruleId, ': see "alert rule list".');
    const wanted = { ...before, ...changes };
    requireRule(wanted);
    const isScope = (['connection_ids', 'connection_names', 'destination_ids'] as const).some(
      (field) => field in changes,
    );
    if (isScope) await requireCovered(client, accountId, wanted, scope);
    const { rows } = await client.query<RuleRow>(update, [
      accountId,
      ruleId,
      wanted.name,
      wanted.metric,
      wanted.check_id,
      wanted.measure,
      wanted.operator,
      wanted.threshold,
      wanted.clear_threshold,
      wanted.for_seconds,
      wanted.for_runs,
      wanted.severity,
      wanted.connection_ids,
      wanted.connection_names,
      wanted.destination_ids,
      wanted.reminder_seconds,
      wanted.is_enabled,
    ]);
    const after = one(rows, 'change an alert rule');
    const differences = fieldChanges(before, after);
    if (differences.changed.length === 0) return after;
    record('alert_rule_changed', PAGE_LINKS.alertRules(), {
      rule_id: ruleId,
      name: after.name,
      ...differences,
      ...actor,
    });
    const isOther = (['metric', 'check_id', 'measure', 'operator'] as const).some((field) =>
      differences.changed.includes(field),
    );
    await endAlertsWithin(within, { ruleId }, ({ connection }) => {
      if (!after.is_enabled) return RESOLUTIONS.ruleDisabled;
      if (isOther) return RESOLUTIONS.ruleChanged;
      return includesConnection(after, connection) ? null : RESOLUTIONS.notCovered;
    });
    return after;
  });
}
