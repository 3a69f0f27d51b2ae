import type { Finding, Outcome } from '../../checks/check.ts';
import { findLeftOut } from '../../checks/fault.ts';
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
  leftOut: ReadonlySet<string>,
  tickets: readonly Pick<StandingTicket, 'check_id' | 'database' | 'object' | 'status'>[],
): Outcome[] {
  const kept = tickets.flatMap(({ check_id, status, database, object }) => {
    const place = status === 'open' ? findLeftOut({ database, object }, leftOut) : undefined;
    return place === undefined ? [] : [{ check_id, place, database, object }];
  });
  const byCheck = Map.groupBy(kept, ({ check_id }) => check_id);
  return outcomes.map((outcome) => {
    const own = byCheck.get(outcome.check.id) ?? [];
    const places = new Set(own.map(({ place }) => place));
    const known = new Set(outcome.unmeasured);
    const unmeasured = [...places].filter((place) => !known.has(place));
    if (!outcome.measured || unmeasured.length === 0) return outcome;
    return {
      ...outcome,
      findings: withUnmeasured(outcome, unmeasured),
      unmeasured: [...outcome.unmeasured, ...unmeasured],
      // The tickets of a schema of MySQL name no database.
      near: [...outcome.near, ...own.map(({ database, object }) => ({ database, object }))],
    };
  });
}

/** A check that was not measured everywhere is never ok, and next to faults one error says where it could not look. */
function withUnmeasured({ check, findings }: Outcome, places: readonly string[]): Finding[] {
  const where = listed(places.map(nameInSentence), NAMES);
  const line = `Not measured in ${where}: the monitor sees nothing there, so tickets from there stay open.`;
  if (findings.every(({ status }) => status === 'ok')) return [plainFinding(check, 'skipped', line)];
  if (findings.some(({ status }) => status === 'error' || status === 'skipped')) return findings;
  return [...findings, plainFinding(check, 'error', line)];
}
