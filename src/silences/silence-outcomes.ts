import type { Finding, Outcome } from '../checks/check.ts';

/** Why somebody decided to live with a finding. */
export type SilenceReason = 'accepted_risk' | 'false_positive' | 'wont_fix' | 'maintenance';

/** A silence that is in force. */
export interface SilenceInForce {
  check_id: string;
  /** null = every object of the check. */
  object: string | null;
  reason: SilenceReason;
  note: string;
  /** null = until somebody ends it. */
  ends_at: Date | null;
}

/**
 * The outcomes of a run, with each silenced fault listed as `skipped` under the reason; of several silences the first
 * one counts. A silenced check stays measured: it ran, so what it did not find is well.
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
    finding.status === finding.severity // a fault: what is ok, skipped or error has nothing to silence
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
