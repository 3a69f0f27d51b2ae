import type { Finding, Outcome } from '../../checks/check.ts';
import type { StandingTicket } from '../../tickets/plan-tickets.ts';
import { listed, nameInSentence, plainFinding } from '../outcome.ts';

/** The longest list of databases in a line of 500 characters. */
const NAMES = 300;

/**
 * The outcomes of a run that left databases out, although these exist: where a check has open tickets of them, they count as unmeasured,
 * because nobody knows whether the fault is gone.
 */
export function countLeftOut(
  outcomes: readonly Outcome[],
  leftOut: readonly string[],
  tickets: readonly Pick<StandingTicket, 'check_id' | 'database' | 'status'>[],
): Outcome[] {
  const names = new Set(leftOut);
  const kept = tickets.filter(({ status, database }) => status === 'open' && names.has(database));
  const byCheck = Map.groupBy(kept, ({ check_id }) => check_id);
  return outcomes.map((outcome) => {
    const databases = new Set(byCheck.get(outcome.check.id)?.map(({ database }) => database));
    const unmeasured = [...databases].filter((database) => !outcome.unmeasured.includes(database));
    if (!outcome.measured || unmeasured.length === 0) return outcome;
    return {
      ...outcome,
      findings: withUnmeasured(outcome, unmeasured),
      unmeasured: [...outcome.unmeasured, ...unmeasured],
    };
  });
}

/** A check that was not measured everywhere is never ok, and next to faults one error says where it could not look. */
function withUnmeasured({ check, findings }: Outcome, databases: readonly string[]): Finding[] {
  const where = listed(databases.map(nameInSentence), NAMES);
  const line = `Not measured in ${where}: the monitor does not connect there, so tickets from there stay open.`;
  if (findings.every(({ status }) => status === 'ok')) return [plainFinding(check, 'skipped', line)];
  if (findings.some(({ status }) => status === 'error' || status === 'skipped')) return findings;
  return [...findings, plainFinding(check, 'error', line)];
}
