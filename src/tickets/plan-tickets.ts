import type { Finding, Outcome } from '../checks/check.ts';
import type { FaultMeasure } from '../checks/measure.ts';

/** A stored ticket: open, or resolved within the last 24 h. */
export interface StandingTicket
  extends Pick<
    Finding,
    'check_id' | 'database' | 'object' | 'category' | 'title' | 'severity' | 'metric_line' | 'remediation'
  > {
  ticket_id: number;
  status: 'open' | 'resolved';
  clean_runs: number;
  /**
   * It flaps: it was reopened three times within 24 h, the third time less than 24 h ago, so it is not resolved yet.
   */
  held: boolean;
}

/** A stored ticket after this run. */
export interface NextTicket extends StandingTicket {
  /** Whether this run found it. */
  seen: boolean;
  /** The number that this run found with `metric_line`; absent if it comes from none, or was not found. */
  measured?: FaultMeasure;
  reopened: boolean;
  /** The severity before this run. */
  severity_before: StandingTicket['severity'];
}

/** How a run changes the tickets of a connection. */
export interface TicketPlan {
  /** The findings that open a ticket. */
  opened: Finding[];
  changed: NextTicket[];
}

/** How many clean runs resolve the ticket of a volatile check. A single one may be chance. */
const CLEAN_RUNS = 2;

const NOTHING = { faults: new Set<string>(), ends: new Set<string>() };

/**
 * Plans how the outcomes of a run change a connection's tickets: which findings open one, and which tickets change.
 * Tickets of checks that the run did not measure stay unchanged. `previous` are the findings of the previous run, `witnessed` the
 * checks whose faults, or whose end, something else saw too: of these one run is enough.
 */
export function planTickets(
  outcomes: readonly Outcome[],
  previous: readonly Finding[],
  tickets: StandingTicket[],
  witnessed: { faults: ReadonlySet<string>; ends: ReadonlySet<string> } = NOTHING,
): TicketPlan {
  const seenBefore = new Set(previous.filter(isFault).map(key));
  const ticketOf = new Map(tickets.map((ticket) => [key(ticket), ticket]));
  const opened = new Map<string, Finding>();
  const changed: NextTicket[] = [];

  for (const outcome of outcomes) {
    const faults = new Map(outcome.findings.filter(isFault).map((finding) => [key(finding), finding]));
    for (const [name, finding] of faults) {
      const ticket = ticketOf.get(name);
      const isNew = ticket?.status !== 'open' && !seenBefore.has(name);
      const wait = outcome.check.volatile && isNew && !witnessed.faults.has(outcome.check.id);
      if (wait) continue;
      if (ticket) changed.push(found(ticket, finding));
      else opened.set(name, finding);
    }
    const unmeasured = new Set(outcome.unmeasured);
    const near = new Set(outcome.near.map((place) => key({ check_id: outcome.check.id, ...place })));
    for (const [name, ticket] of ticketOf) {
      if (ticket.check_id !== outcome.check.id || ticket.status !== 'open' || faults.has(name)) continue;
      if (outcome.measured && !unmeasured.has(ticket.database)) {
        const needsAnother = outcome.check.volatile && !witnessed.ends.has(outcome.check.id);
        changed.push(missed(ticket, needsAnother, near.has(name)));
      }
    }
  }
  return { opened: [...opened.values()], changed };
}

function found(ticket: StandingTicket, finding: Finding): NextTicket {
  const { category, title, severity, metric_line, measured, remediation } = finding;
  const now = { category, title, severity, metric_line, remediation };
  return {
    ...ticket,
    ...now,
    ...(measured && { measured }),
    status: 'open',
    clean_runs: 0,
    seen: true,
    reopened: ticket.status === 'resolved',
    severity_before: ticket.severity,
  };
}

function missed(ticket: StandingTicket, needsAnother: boolean, near: boolean): NextTicket {
  const clean_runs = near ? 0 : ticket.clean_runs + 1;
  const resolved = !ticket.held && clean_runs >= (needsAnother ? CLEAN_RUNS : 1);
  return {
    ...ticket,
    status: resolved ? 'resolved' : 'open',
    clean_runs,
    seen: false,
    reopened: false,
    severity_before: ticket.severity,
  };
}

function isFault(finding: Finding): boolean {
  return finding.status === finding.severity;
}

// JSON, not a text with a separator: names from the server could contain the separator.
function key({ check_id, database, object }: Pick<Finding, 'check_id' | 'database' | 'object'>): string {
  return JSON.stringify([check_id, database, object]);
}
