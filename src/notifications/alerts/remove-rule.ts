import type { ChangeAccount } from '../../activity/record-entry.ts';
import { notFound } from '../../platform/rejection.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import { RESOLUTIONS } from './alert-row.ts';
import { type RuleRow, ruleColumns } from './alert-rule.ts';
import { endAlertsWithin } from './resolve-alerts-of.ts';

// Its alerts stay in the history, so the row stays too.
const remove = `
  update alert_rule
     set removed_at = $3, is_enabled = false
   where account_id = $1 and rule_id = $2 and removed_at is null
  returning ${ruleColumns}`;

/** Removes an alert rule and resolves its open alerts. Throws `notFound`. */
export function removeRule(
  change: ChangeAccount,
  ruleId: number,
  actor: Record<string, unknown> = {},
): Promise<RuleRow> {
  return change(async (within) => {
    const { accountId, client, at, record } = within;
    const { rows } = await client.query<RuleRow>(remove, [accountId, ruleId, at]);
    const [removed] = rows;
    if (!removed) throw notFound('alert rule', ruleId, ': see "alert rule list".');
    record('alert_rule_removed', PAGE_LINKS.alertRules(), { rule_id: ruleId, name: removed.name, ...actor });
    await endAlertsWithin(within, { ruleId }, () => RESOLUTIONS.ruleRemoved);
    return removed;
  });
}
