import type pg from 'pg';
import type { Finding, Outcome } from '../../checks/check.ts';
import type { NewChange } from '../../runs/changes/connection-change.ts';
import type { SilenceReason } from '../../vocabulary/silence-reasons.ts';
import { silenceChange } from './silence-change.ts';

/** The connection and the time of the run (`Change.at`). */
interface Scope {
  accountId: number;
  connectionId: number;
  at: string;
}

// The active silences, and those that expired since the previous run: a silence that was ended has a change at that time.
// A silence of an object comes before a silence of the whole check; then the one that lasts longest.
const inForce = `
  select check_id, object, reason, note, ends_at, coalesce(ends_at <= $3, false) as expired
    from silence s
   where account_id = $1 and connection_id = $2
     and (ends_at is null or ends_at > $3
          or ends_at > (select h.created_at
                          from connection c
                          join health_check h on h.account_id = $1 and h.health_check_id = c.latest_check_id
                         where c.account_id = $1 and c.connection_id = $2)
             and not exists (select from connection_change e
                              where e.account_id = $1 and e.connection_id = $2 and e.at = s.ends_at and e.kind = 'silence'))
   order by object nulls last, ends_at desc nulls first, silence_id`;

/** The silences that concern a run. */
export interface RunSilences {
  active: readonly SilenceInForce[];
  /** The changes by those that expired since the previous run. */
  expired: NewChange[];
}

/** Reads the silences of a connection for a run. */
export async function readSilences(client: pg.ClientBase, scope: Scope): Promise<RunSilences> {
  const values = [scope.accountId, scope.connectionId, scope.at];
  const { rows } = await client.query<SilenceInForce & { expired: boolean }>(inForce, values);
  return {
    active: rows.filter((silence) => !silence.expired),
    expired: rows
      .filter((silence) => silence.expired)
      .map((silence) => silenceChange('went', { ...silence, until: silence.ends_at }, 'expired')),
  };
}

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
export function silenceOutcomes(
  outcomes: readonly Outcome[],
  silences: readonly SilenceInForce[],
): Outcome[] {
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
