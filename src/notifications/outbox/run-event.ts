import type { Finding } from '../../checks/check.ts';
import { fleetStatus } from '../../vocabulary/score-bands.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import type { EventConnection, NewEvent } from '../event.ts';

/** The event of a stored run. `findings` are the worst first. Without a fault its severity is `info`. */
export function runEvent(
  run: { id: number; score: number; summaryText: string; findings: readonly Finding[] },
  connection: EventConnection,
): NewEvent {
  const [worst] = run.findings;
  const top = worst && worst.status !== 'ok' && worst.status !== 'skipped' ? worst : null;
  const fault = top && SEVERITIES.some((severity) => severity === top.status) ? top : null;
  return {
    kind: 'health_check.completed',
    severity: fault?.severity ?? 'info',
    connection,
    data: {
      connection_id: connection.id,
      health_check_id: run.id,
      score: run.score,
      status: fleetStatus(run.score),
      top_finding: top && shown(top),
    },
    details: {
      connection,
      title: `Score ${run.score}: ${run.summaryText}`,
      check_id: top?.check_id ?? null,
      database: top?.database ?? '',
      object: top?.object ?? null,
      metric_line: top?.metric_line ?? null,
      measured: top?.measured ?? null,
      since: null,
      remediation: top?.remediation || null,
      resolution: null,
      page: `/connections/${connection.id}`,
    },
  };
}

function shown({ check_id, category, status, title, metric_line, remediation, severity }: Finding): object {
  return { check_id, category, status, title, metric_line, remediation, severity };
}
