import type pg from 'pg';
import { inTransaction } from '../../store/connect.ts';
import type { Catalogue } from '../command.ts';
import type { SampleConnection, SampleFleet } from './sample-connection.ts';
import { type History, runInstant } from './sample-fleet.ts';
import type { SampleStep } from './sample-progress.ts';
import { runReporter } from './sample-runs.ts';
import { runsOf } from './sample-tickets.ts';

// The rule that every account begins with, unless a member removed it.
const selectRule = `
  select rule_id as id, name, threshold, coalesce(clear_threshold, threshold) as clear_threshold, for_runs
    from alert_rule
   where account_id = $1 and preset = 'score' and is_enabled and removed_at is null`;

const instant = (column: string) => `timestamptz 'epoch' + a.${column} * interval '1 microsecond'`;

// An open one is acknowledged, because destinations are told of others: sample data must page nobody.
const insertAlerts = `
  insert into alert (account_id, rule_id, connection_id, state, since, runs, metric, operator, threshold, value, details, severity,
                     triggered_at, acknowledged_at, acknowledged_by, acknowledged_note, resolved_at, resolution)
  select $1, r.rule_id, connection_id, case when a.resolved_at is null then 'open' else 'resolved' end, ${instant('since')}, runs, r.metric,
         r.operator, r.threshold, value,
         jsonb_build_object('rule_name', r.name, 'check_id', null, 'database', '', 'object', null,
                            'metric_line', 'The score is ' || value || '.', 'remediation', null, 'worst', worst),
         r.severity, ${instant('triggered_at')},
         case when a.resolved_at is null then ${instant('triggered_at')} end, case when a.resolved_at is null then 'sample data' end,
         case when a.resolved_at is null then 'Sample data: nobody is told.' end, ${instant('resolved_at')},
         case when a.resolved_at is not null then 'the condition no longer holds' end
    from json_to_recordset($3::json)
           as a (connection_id bigint, since bigint, triggered_at bigint, resolved_at bigint, runs int, value float8, worst float8)
    join alert_rule r on r.account_id = $1 and r.rule_id = $2
   order by a.triggered_at, connection_id`;

/** The connections that have alerts: the first ones. */
const MOST = 20;

interface Rule {
  id: number;
  threshold: number;
  clear_threshold: number;
  for_runs: number;
}

/** An alert as a row; times are in microseconds since 1970. */
interface SampleAlert {
  since: number;
  triggered_at: number;
  /** Null = it is still open. */
  resolved_at: number | null;
  runs: number;
  value: number;
  worst: number;
}

/** Writes the alerts about the scores of the first connections, by the account's own rule. */
export async function writeAlerts(
  writer: pg.Pool,
  account: { id: number; history: History },
  fleet: SampleFleet & { connectionIds: readonly number[] },
  catalogue: Catalogue,
  step: SampleStep,
): Promise<void> {
  const [rule] = (await writer.query<Rule>(selectRule, [account.id])).rows;
  if (rule === undefined) return;
  const connections = fleet.connections.slice(0, MOST);
  const alerts = connections.flatMap((connection, place) => {
    const connection_id = fleet.connectionIds[place];
    const scores = replayScores(connection, { fleet, history: account.history, catalogue });
    return makeAlerts(rule, scores).map((alert) => ({ connection_id, ...alert }));
  });
  await inTransaction(writer, (client) =>
    client.query(insertAlerts, [account.id, rule.id, JSON.stringify(alerts)]),
  );
  step(connections.length, connections.length);
}

interface Scored {
  at: number;
  score: number;
}

/** The scores of a connection's runs, as they are stored. */
function* replayScores(
  connection: SampleConnection,
  { fleet, history, catalogue }: { fleet: SampleFleet; history: History; catalogue: Catalogue },
): Generator<Scored> {
  const report = runReporter(catalogue, connection.engine);
  let run = 0;
  for (const { standing } of runsOf(connection, fleet)) {
    const at = runInstant(connection, run, fleet.runs, history);
    yield { at, score: report(standing, false).score };
    run += 1;
  }
}

/** The alerts that a rule makes of scores: after enough runs below its threshold, until one that clears it. */
export function makeAlerts(
  { threshold, clear_threshold, for_runs }: Omit<Rule, 'id'>,
  scores: Iterable<Scored>,
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
