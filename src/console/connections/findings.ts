import { readFileSync } from 'node:fs';
import { type Static, Type } from 'typebox';
import { everyCheck } from '../../checks/catalogue.ts';
import type { Finding } from '../../checks/check.ts';
import { statementLock } from '../../checks/statement-lock.ts';
import { inPackage } from '../../config/package-root.ts';
import type { ConnectionThresholds } from '../../connections/connection-thresholds.ts';
import type { DatabaseAddress } from '../../connections/connection-url.ts';
import { nullable } from '../../http/endpoint.ts';
import { identifier } from '../../http/fields.ts';
import { FINDING_STATUSES, SEVERITIES } from '../../vocabulary/severities.ts';
import { stringEnum } from '../string-enum.ts';

/** What a check judges by: one of its thresholds, as the connection has it. */
export const JudgedBy = Type.Object({
  name: Type.String(),
  value: Type.Number(),
  default: Type.Number(),
});

/** A finding with all that a person needs to act on it. Texts of a watched server are in it: show them as text. */
export const ExplainedFinding = Type.Object({
  check_id: Type.String(),
  category: Type.String(),
  status: stringEnum(...FINDING_STATUSES),
  severity: stringEnum(...SEVERITIES),
  title: Type.String(),
  /** The database that the object is in; '' for the whole server. */
  database: Type.String(),
  object: nullable(Type.String()),
  /** The measured value and the recommendation; when skipped or error, why it could not be measured. */
  measured: Type.String(),
  thresholds: Type.Array(JudgedBy),
  /** Why it matters: Markdown of the check's page. */
  why: Type.String(),
  /** The remediation, to be pasted; '' where there is nothing to do. */
  sql: Type.String(),
  /** What the statement locks, in a sentence or two; null where it is none that we know, or nothing is to be run. */
  lock: nullable(Type.String()),
  /** The GRANT that lacks, where it was skipped for that. */
  missing_grant: nullable(Type.String()),
  /** Its open ticket; null where it has none, as a problem that must be seen twice first. */
  ticket_id: nullable(identifier('ticket identifier')),
});

export type ExplainedFinding = Static<typeof ExplainedFinding>;

/** Whose finding it is. */
interface Watched {
  engine: DatabaseAddress['engine'];
  thresholds: ConnectionThresholds;
}

/** What an open ticket is about. */
export interface TicketOfFinding {
  ticket_id: number;
  check_id: string;
  database: string;
  object: string | null;
}

/** The findings as a person wants them, each with its ticket of those that are open. */
export function explainedFindings(
  watched: Watched,
  findings: readonly Finding[],
  tickets: readonly TicketOfFinding[],
): ExplainedFinding[] {
  const ticketOf = new Map(tickets.map((ticket) => [subjectOf(ticket), ticket.ticket_id]));
  return findings.map((finding) => ({
    ...explainedFinding(watched, finding),
    ticket_id: ticketOf.get(subjectOf(finding)) ?? null,
  }));
}

// A list, not a text with a separator: the names in it are a stranger's.
function subjectOf({ check_id, database, object }: Omit<TicketOfFinding, 'ticket_id'>): string {
  return JSON.stringify([check_id, database, object]);
}

function explainedFinding(watched: Watched, finding: Finding): Omit<ExplainedFinding, 'ticket_id'> {
  const { check_id, category, status, severity, title, database, object, metric_line, remediation } = finding;
  return {
    ...{ check_id, category, status, severity, title, database, object, measured: metric_line },
    ...explained(watched, check_id, remediation),
    missing_grant: finding.missing_grant ?? null,
  };
}

/** What is known of a check's faults beside what was measured. */
export function explained(
  { engine, thresholds }: Watched,
  checkId: string,
  remediation: string,
): Pick<ExplainedFinding, 'thresholds' | 'why' | 'sql' | 'lock'> {
  return {
    thresholds: thresholdsOf(checkId, thresholds[checkId] ?? {}),
    why: whyOf(checkId),
    sql: remediation,
    lock: statementLock(engine, remediation),
  };
}

const defaults = new Map(
  everyCheck.map((check) => [check.id as string, 'thresholds' in check ? check.thresholds : {}]),
);

function thresholdsOf(checkId: string, own: Readonly<Record<string, number>>): Static<typeof JudgedBy>[] {
  return Object.entries(defaults.get(checkId) ?? {}).map(([name, number]) => ({
    ...{ name, value: own[name] ?? number, default: number },
  }));
}

const pages = new Map<string, string>();

function whyOf(checkId: string): string {
  const known = pages.get(checkId);
  if (known !== undefined) return known;
  // A stored finding may be of a check that is shipped no more: the catalogue names the pages that there are.
  const page = defaults.has(checkId) ? readFileSync(inPackage(`docs/checks/${checkId}.md`), 'utf8') : '';
  const why = /## Why it matters\n([\s\S]*?)\n## /.exec(page)?.[1]?.trim() ?? '';
  pages.set(checkId, why);
  return why;
}
