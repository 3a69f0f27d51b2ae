import type { Read } from '../../../store/read.ts';
import { PULSE_METRICS, type PulseMetric } from '../../../vocabulary/alert-metrics.ts';
import { includesConnection, type ScopedConnection } from '../../connection-scope.ts';
import { type WatchedRule, watchedRuleColumns } from '../alert-rule.ts';

/** A rule about what pulses see. */
export type PulseRule = Pick<
  WatchedRule,
  'id' | 'operator' | 'threshold' | 'clear_threshold' | 'for_seconds'
> & {
  metric: PulseMetric;
};

const select = `
  select ${watchedRuleColumns}
    from alert_rule
   where account_id = $1 and is_enabled and removed_at is null and metric = any($2)`;

/** The enabled rules about what pulses see that cover a connection. */
export async function listPulseRules(
  read: Read,
  accountId: number,
  connection: ScopedConnection,
): Promise<PulseRule[]> {
  const rules = await read<WatchedRule & PulseRule>(select, [accountId, PULSE_METRICS]);
  return rules
    .filter((rule) => includesConnection(rule, connection))
    .map(({ id, metric, operator, threshold, clear_threshold, for_seconds }) => ({
      id,
      metric,
      operator,
      threshold,
      clear_threshold,
      for_seconds,
    }));
}
