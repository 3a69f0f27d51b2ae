import type { NewChange } from '../changes/connection-change.ts';
import type { TicketPlan } from '../ops/plan-tickets.ts';
import { cleanText } from '../vocabulary/clean-text.ts';
import type { Severity } from '../vocabulary/severities.ts';

const TEXT = 200;

/**
 * The findings that came, went, or became worse or better: as their tickets did. So a check that was not measured
 * changes nothing, and a volatile finding must be seen, or missed, twice. Before and after are severities.
 */
export function findingChanges({ opened, changed }: TicketPlan): NewChange[] {
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
