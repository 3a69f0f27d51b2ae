import { inTransaction } from '../../store/connect.ts';
import type { Catalogue } from '../command.ts';
import type { SampleFleet } from './sample-connection.ts';
import { runInstant } from './sample-fleet.ts';
import type { SampleStep } from './sample-progress.ts';
import { runReporter } from './sample-runs.ts';
import { firstConnections, insertRows, type SampleTarget, toTimestamp } from './sample-target.ts';
import { runsOf } from './sample-tickets.ts';

// The rule that every account begins with, unless a member removed it.
const selectRule = `
  select rule_id, name, metric, operator, severity, threshold, coalesce(clear_threshold, threshold) as clear_threshold,
         for_runs
    from alert_rule
   where account_id = $1 and preset = 'score' and is_enabled and removed_at is null`;

interface Rule {
  rule_id: number;
  name: string;
  metric: string;
  operator: string;
  severity: string;
  threshold: number;
  clear_threshold: number;
  for_runs: number;
}

/** An alert about a score; times are in microseconds since 1970. */
interface SampleAlert {
  since: number;
  triggered_at: number;
  /** Null if it is still open. */
  resolved_at: number | null;
  runs: number;
  value: number;
  worst: number;
}

/** Writes the alerts about the scores of the first connections, by the account's own rule. */
export async function writeAlerts(
  { writer, accountId, history }: SampleTarget,
  fleet: SampleFleet & { connectionIds: readonly number[] },
  catalogue: Catalogue,
  step: SampleStep,
): Promise<void> {
  const [rule] = (await writer.query<Rule>(selectRule, [accountId])).rows;
  if (rule === undefined) return;
  const connections = firstConnections(accountId, fleet);
  const alerts = connections.flatMap((connection) => {
    const report = runReporter(catalogue, connection);
    const scores = [...runsOf(connection, fleet)].map(({ standing }, run) => ({
      at: runInstant(connection, run, fleet.runs, history),
      score: report(standing, false).score,
    }));
    return makeAlerts(rule, scores).map((alert) => ({ ...alert, ids: connection.ids }));
  });
  const rows = alerts
    .toSorted((a, b) => a.triggered_at - b.triggered_at || a.ids.connection_id - b.ids.connection_id)
    .map(({ ids, ...alert }) => ({ ...ids, ...toRow(rule, alert) }));
  await inTransaction(writer, (client) => insertRows(client, 'alert', rows));
  step(connections.length, connections.length);
}

// An open one is acknowledged, because destinations are told of others: sample data must page nobody.
function toRow({ rule_id, name, metric, operator, threshold, severity }: Rule, alert: SampleAlert) {
  const { since, triggered_at, resolved_at, runs, value, worst } = alert;
  const isOpen = resolved_at === null;
  const details = {
    rule_name: name,
    check_id: null,
    database: '',
    object: null,
    metric_line: `The score is ${value}.`,
    remediation: null,
    worst,
  };
  return {
    rule_id,
    metric,
    operator,
    threshold,
    severity,
    details,
    state: isOpen ? 'open' : 'resolved',
    since: toTimestamp(since),
    runs,
    value,
    triggered_at: toTimestamp(triggered_at),
    acknowledged_at: isOpen ? toTimestamp(triggered_at) : null,
    acknowledged_by: isOpen ? 'sample data' : null,
    acknowledged_note: isOpen ? 'Sample data: nobody is told.' : null,
    resolved_at: isOpen ? null : toTimestamp(resolved_at),
    resolution: isOpen ? null : 'the condition no longer holds',
  };
}

/** The alerts that a rule makes of scores: after enough runs below its threshold, until one that clears it. */
export function makeAlerts(
  { threshold, clear_threshold, for_runs }: Pick<Rule, 'threshold' | 'clear_threshold' | 'for_runs'>,
  scores: readonly { at: number; score: number }[],
): SampleAlert[] {
  const alerts: SampleAlert[] = [];
  let low: SampleAlert | null = null;
  for (const { at, score } of scores) {
    const isOpen = low !== null && low.runs >= for_runs;
    if (low !== null && isOpen && score >= clear_threshold) {
      alerts.push({ ...low, resolved_at: at });
      low = null;
    } else if (score < threshold) {
      low ??= { since: at, triggered_at: at, resolved_at: null, runs: 0, value: score, worst: score };
      low.runs += 1;
      low.worst = Math.min(low.worst, score);
      if (low.runs === for_runs) Object.assign(low, { triggered_at: at, value: score });
    } else if (!isOpen) low = null;
  }
  return low !== null && low.runs >= for_runs ? [...alerts, low] : alerts;
}
