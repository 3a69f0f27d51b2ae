import type { Outcome } from '../../checks/check.ts';
import { findingId, isOwnCheckId, type OwnCheck } from '../../checks/own/own-check.ts';
import type { StandingTicket } from '../../tickets/plan-tickets.ts';
import { plainFinding } from '../outcome.ts';

/**
 * The outcomes of own checks that have open tickets, but are no longer for the connection: they were removed, or their tags
 * were changed. So their tickets resolve. `own` are those of the connection, null if they were not loaded.
 */
export function retiredOutcomes(
  tickets: readonly StandingTicket[],
  own: readonly OwnCheck[] | null,
): Outcome[] {
  if (own === null) return [];
  const current = new Set(own.map(({ id }) => findingId(id)));
  const retired = tickets.filter(
    ({ status, check_id }) => status === 'open' && isOwnCheckId(check_id) && !current.has(check_id),
  );
  return [...Map.groupBy(retired, ({ check_id }) => check_id).values()].flatMap(([ticket]) =>
    ticket ? [retiredOutcome(ticket)] : [],
  );
}

function retiredOutcome({ check_id: id, title, category }: StandingTicket): Outcome {
  const check = { id, title, category, volatile: false, maxSeverity: 'critical' as const };
  const finding = plainFinding(check, 'ok', 'This own check is no longer one of the connection.');
  return { check, findings: [finding], measured: true, unmeasured: [], near: [] };
}
