import type { Finding, Outcome } from '../checks/check.ts';

/** Why a finding was silenced. */
export type SilenceReason = 'accepted_risk' | 'false_positive' | 'wont_fix' | 'maintenance';

/** An active silence. */
export interface SilenceInForce {
  check_id: string;
  /** null = all objects of the check. */
  object: string | null;
  reason: SilenceReason;
  note: string;
  /** null = until ended manually. */
  ends_at: Date | null;
}

/**
 * The outcomes of a run with silenced faults listed as `skipped` and the reason. The first matching silence applies. A
 * silenced check still counts as measured, so objects that it did not find are healthy.
 */
export function silenceOutcomes(outcomes: Outcome[], silences: readonly SilenceInForce[]): Outcome[] {
  return outcomes.map((outcome) => ({
    ...outcome,
    findings: outcome.findings.map((finding) => {
      const silence = silences.find((one) => covers(one, finding));
      return silence ? silenced(finding, silence, outcome.check.maxSeverity) : finding;
    }),
  }));
}

function covers({ check_id, object }: SilenceInForce, finding: Finding): boolean {
  return (
    finding.check_id === check_id &&
    (object === null || finding.object === object) &&
    finding.status === finding.severity // a fault: `ok`, `skipped` and `error` are never silenced
  );
}

function silenced(
  finding: Finding,
  { reason, note, ends_at }: SilenceInForce,
  maxSeverity: Finding['severity'],
): Finding {
  const until = ends_at === null ? '' : ` until ${ends_at.toISOString()}`;
  const metric_line = `Silenced${until} (${reason}: ${note}): ${finding.metric_line}`;
  return { ...finding, status: 'skipped', severity: maxSeverity, metric_line };
}
