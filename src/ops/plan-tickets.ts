import type { Finding, Outcome } from '../checks/check.ts';

/** A ticket as the store has it: open, or resolved within the last 24 h. */
export interface StandingTicket
  extends Pick<
    Finding,
    'check_id' | 'database' | 'object' | 'category' | 'title' | 'severity' | 'metric_line' | 'remediation'
  > {
  ticket_id: number;
  status: 'open' | 'resolved';
  clean_runs: number;
  /** It came back three times within 24 h, the third less than 24 h ago: it is not resolved yet. */
  held: boolean;
}

/** What becomes of a ticket that stands. */
export interface NextTicket extends StandingTicket {
  /** This run found it. */
  seen: boolean;
  reopened: boolean;
  /** The severity before this run. */
  severity_before: StandingTicket['severity'];
}

/** How many clean runs resolve the ticket of a volatile check: one alone may be chance. */
const CLEAN_RUNS = 2;

/**
 * What the outcomes of a run make of a connection's tickets: findings that open one, and tickets that change. What a
 * run did not measure is in neither, so its tickets stand. `previous` are the findings of the run before.
 */
export function planTickets(
  outcomes: Outcome[],
  previous: Finding[],
  tickets: StandingTicket[],
): { opened: Finding[]; changed: NextTicket[] } {
  const seenBefore = new Set(previous.filter(isFault).map(key));
  const ticketOf = new Map(tickets.map((ticket) => [key(ticket), ticket]));
  const opened = new Map<string, Finding>();
  const changed: NextTicket[] = [];

  for (const outcome of outcomes) {
    const faults = new Map(outcome.findings.filter(isFault).map((finding) => [key(finding), finding]));
    for (const [name, finding] of faults) {
      const ticket = ticketOf.get(name);
      const wait = outcome.check.volatile && ticket?.status !== 'open' && !seenBefore.has(name);
      if (wait) continue;
      if (ticket) changed.push(found(ticket, finding));
      else opened.set(name, finding);
    }
    const near = new Set(outcome.near.map((place) => key({ check_id: outcome.check.id, ...place })));
    for (const [name, ticket] of ticketOf) {
      if (ticket.check_id !== outcome.check.id || ticket.status !== 'open' || faults.has(name)) continue;
      if (outcome.measured && !outcome.unmeasured.includes(ticket.database)) {
        changed.push(missed(ticket, outcome.check.volatile, near.has(name)));
      }
    }
  }
  return { opened: [...opened.values()], changed };
}

function found(ticket: StandingTicket, finding: Finding): NextTicket {
  const { category, title, severity, metric_line, remediation } = finding;
  const now = { category, title, severity, metric_line, remediation };
  return {
    ...ticket,
    ...now,
    status: 'open',
    clean_runs: 0,
    seen: true,
    reopened: ticket.status === 'resolved',
    severity_before: ticket.severity,
  };
}

function missed(ticket: StandingTicket, volatile: boolean, near: boolean): NextTicket {
  const clean_runs = near ? 0 : ticket.clean_runs + 1;
  const resolved = !ticket.held && clean_runs >= (volatile ? CLEAN_RUNS : 1);
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

// A list, not a text with a separator: the names in it are a stranger's.
function key({ check_id, database, object }: Pick<Finding, 'check_id' | 'database' | 'object'>): string {
  return JSON.stringify([check_id, database, object]);
}
