import type pg from 'pg';
import type { ChangeAccount } from '../../activity/record-entry.ts';
import { invalidParameter } from '../../platform/rejection.ts';
import { one } from '../../store/one.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import { type RuleRow, type RuleSettings, ruleColumns } from './alert-rule.ts';
import { requireRule } from './check-rule.ts';
import { requireCovered } from './require-covered.ts';

/** How many rules an account can have: each is evaluated in every run. */
export const MOST_RULES = 50;

const insert = `
  insert into alert_rule (account_id, name, metric, check_id, measure, operator, threshold, clear_threshold, for_seconds, for_runs,
                          severity, connection_ids, connection_names, destination_ids, reminder_seconds, is_enabled,
                          created_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
  returning ${ruleColumns}`;

// A disabled preset does not count: an account may have removed it, and its export disables it.
const count = `
  select count(*)::int as rules
    from alert_rule
   where account_id = $1 and removed_at is null and (preset is null or is_enabled)`;

/**
 * Adds an alert rule. It is evaluated from the next run on. Throws a `RuleRejected`, also if no connection matches, unless it
 * may match none.
 */
export function addRule(
  change: ChangeAccount,
  rule: RuleSettings,
  actor: Record<string, unknown> = {},
  scope: { mayMatchNone?: boolean } = {},
): Promise<RuleRow> {
  requireRule(rule);
  return change(async ({ accountId, client, at, record }) => {
    await requireRoom(client, accountId);
    await requireCovered(client, accountId, rule, scope);
    const { rows } = await client.query<RuleRow>(insert, [
      accountId,
      rule.name,
      rule.metric,
      rule.check_id,
      rule.measure,
      rule.operator,
      rule.threshold,
      rule.clear_threshold,
      rule.for_seconds,
      rule.for_runs,
      rule.severity,
      rule.connection_ids,
      rule.connection_names,
      rule.destination_ids,
      rule.reminder_seconds,
      rule.is_enabled,
      at,
    ]);
    const added = one(rows, 'store an alert rule');
    const { created_at: _, preset: __, id: rule_id, ...settings } = added;
    record('alert_rule_added', PAGE_LINKS.alertRules(), { rule_id, ...settings, ...actor });
    return added;
  });
}

async function requireRoom(client: pg.ClientBase, accountId: number): Promise<void> {
  const { rows } = await client.query<{ rules: number }>(count, [accountId]);
  if (one(rows, 'count alert rules').rules >= MOST_RULES) {
    throw invalidParameter('name', `An account has at most ${MOST_RULES} alert rules: remove one first.`);
  }
}
