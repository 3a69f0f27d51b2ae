import type { Finding, Outcome } from '../checks/check.ts';
import { score, summaryText, worstFirst } from '../checks/score.ts';
import { cleanText } from '../platform/text/clean-text.ts';
import type { NewChange } from '../runs/changes/connection-change.ts';
import { planTickets, type StandingTicket, type TicketPlan } from '../tickets/plan-tickets.ts';
import { type SilenceInForce, silenceOutcomes } from '../tickets/silences/run-silences.ts';
import type { Severity } from '../vocabulary/severities.ts';
import { type PulseEvidence, witnessedChecks } from './pulse/pulse-conditions.ts';

/** What a run measured, and what it is judged by. */
export interface RunCase {
  /** As measured, without silences. */
  outcomes: readonly Outcome[];
  /** The findings of the previous run. Empty if there was none. */
  previous: Finding[];
  tickets: StandingTicket[];
  silences: readonly SilenceInForce[];
  /** What the pulses saw that asked for the run. */
  evidence: PulseEvidence | null;
}

/** What a run means for its connection. */
export interface RunVerdict {
  /** With silences. */
  outcomes: Outcome[];
  /** Worst first. */
  findings: Finding[];
  score: number;
  unsilencedScore: number;
  summaryText: string;
  plan: TicketPlan;
  /** The findings that came, went, or became worse or better. */
  changes: NewChange[];
}

/** Judges a run. It reads and writes nothing. */
export function judgeRun({ outcomes: measured, previous, tickets, silences, evidence }: RunCase): RunVerdict {
  const outcomes = silenceOutcomes(measured, silences);
  const open = tickets.filter((ticket) => ticket.status === 'open');
  const plan = planTickets(outcomes, previous, tickets, witnessedChecks(evidence));
  return {
    outcomes,
    findings: worstFirst(outcomes),
    score: score(outcomes, open),
    unsilencedScore: score(measured, open),
    summaryText: summaryText(outcomes),
    plan,
    // The findings of the first run did not come with it.
    changes: previous.length > 0 ? findingChanges(plan) : [],
  };
}

/** How many findings are faults. */
export function countFaults(outcomes: readonly Outcome[]): number {
  const findings = outcomes.flatMap((outcome) => outcome.findings);
  return findings.filter(({ status }) => !['ok', 'skipped', 'error'].includes(status)).length;
}

const TEXT = 200;

/**
 * The changes of findings are those of their tickets. So a check that was not measured changes nothing, and a volatile
 * finding must be seen, or missed, twice. Before and after are severities.
 */
function findingChanges({ opened, changed }: TicketPlan): NewChange[] {
  return [
    ...opened.map((finding) => findingChange(finding, null, finding.severity)),
    ...changed.flatMap((ticket) => {
      const { status, reopened, severity, severity_before: before } = ticket;
      if (reopened) return [findingChange(ticket, null, severity)];
      if (status === 'resolved') return [findingChange(ticket, before, null)];
      return before === severity ? [] : [findingChange(ticket, before, severity)];
    }),
  ];
}

function findingChange(
  { title, database, object }: { title: string; database: string; object: string | null },
  before: Severity | null,
  after: Severity | null,
): NewChange {
  const subject = cleanText(object === null ? title : `${title}: ${object}`, TEXT);
  return { kind: 'finding', database, subject, before, after, source: null };
}
