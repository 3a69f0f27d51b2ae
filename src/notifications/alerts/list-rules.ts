import type { Read } from '../../store/read.ts';
import { type RuleRow, ruleColumns } from './alert-rule.ts';

const selectRules = `
  select ${ruleColumns} from alert_rule where account_id = $1 and removed_at is null order by rule_id`;

/** The alert rules of an account, by id. */
export function listRules(read: Read, accountId: number): Promise<RuleRow[]> {
  return read<RuleRow>(selectRules, [accountId]);
}
