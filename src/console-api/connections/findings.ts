import { readFileSync } from 'node:fs';
import { everyCheck } from '../../checks/catalogue.ts';
import type { Check, Finding, Thresholds } from '../../checks/check.ts';
import { statementLock } from '../../checks/statement-lock.ts';
import { thresholdUnit } from '../../checks/threshold-facts.ts';
import type { ConnectionThresholds } from '../../connections/connection-thresholds.ts';
import type { DatabaseAddress } from '../../connections/connection-url.ts';
import { effectiveThresholds, type Override } from '../../connections/thresholds/effective-thresholds.ts';
import { inPackage } from '../../platform/package-root.ts';
import { identifier } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { FINDING_STATUSES, SEVERITIES } from '../../vocabulary/severities.ts';
import { THRESHOLD_UNITS } from '../../vocabulary/threshold-units.ts';
import { FaultMeasure } from '../measures/measure-schemas.ts';

/** A threshold of a check, with the value that holds for the connection. */
export const JudgedBy = Type.Object({
  name: Type.String(),
  unit: stringEnum(...THRESHOLD_UNITS),
  value: Type.Number(),
  default: Type.Number(),
  /** What sets the value. */
  source: stringEnum('connection', 'tag', 'account', 'default'),
  /** The tag that sets it; '' for other sources. */
  tag: Type.String(),
  /** The value without the connection's own. */
  inherited: Type.Number(),
});

/**
 * A finding with everything that a person needs to act on it. It contains untrusted text of the monitored server: render
 * it as text.
 */
export const ExplainedFinding = Type.Object({
  check_id: Type.String(),
  category: Type.String(),
  status: stringEnum(...FINDING_STATUSES),
  severity: stringEnum(...SEVERITIES),
  title: Type.String(),
  /** The object's database; '' for the whole server. */
  database: Type.String(),
  object: nullable(Type.String()),
  /** The measured value and the recommendation; when skipped or error, why it could not be measured. */
  metric_line: Type.String(),
  /** The number that it comes from; null if it comes from none. */
  measured: nullable(FaultMeasure),
  thresholds: Type.Array(JudgedBy),
  /** Why it matters, as Markdown from the check's page. */
  why: Type.String(),
  /** The remediation to paste; '' when there is nothing to do. */
  sql: Type.String(),
  /** What the statement locks, in a sentence or two; null when unknown or there is nothing to run. */
  lock: nullable(Type.String()),
  /** The missing GRANT, if the check was skipped for that. */
  missing_grant: nullable(Type.String()),
  /** Its open ticket; null = none, for example before a problem was seen twice. */
  ticket_id: nullable(identifier('ticket identifier')),
});

export type ExplainedFinding = Static<typeof ExplainedFinding>;

/** The connection of a finding. */
interface Watched {
  engine: DatabaseAddress['engine'];
  /** Its own. */
  thresholds: ConnectionThresholds;
  tags: readonly string[];
  /** Those of its account and tags. */
  overrides: readonly Override[];
}

/** The subject of an open ticket. */
export interface TicketOfFinding {
  ticket_id: number;
  check_id: string;
  database: string;
  object: string | null;
}

/** Explains findings, each with its open ticket. */
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

// A JSON list instead of joined text: the names are untrusted and may contain any separator.
function subjectOf({ check_id, database, object }: Omit<TicketOfFinding, 'ticket_id'>): string {
  return JSON.stringify([check_id, database, object]);
}

function explainedFinding(watched: Watched, finding: Finding): Omit<ExplainedFinding, 'ticket_id'> {
  const { check_id, category, status, severity, title, database, object, metric_line, remediation } = finding;
  return {
    check_id,
    category,
    status,
    severity,
    title,
    database,
    object,
    metric_line,
    ...explained(watched, check_id, remediation),
    measured: finding.measured ?? null,
    missing_grant: finding.missing_grant ?? null,
  };
}

/** The explanation of a check: thresholds, why it matters, remediation and locks. */
export function explained(
  watched: Watched,
  checkId: string,
  remediation: string,
): Pick<ExplainedFinding, 'thresholds' | 'why' | 'sql' | 'lock'> {
  return {
    thresholds: thresholdsOf(checkId, watched),
    why: whyOf(checkId),
    sql: remediation,
    lock: statementLock(watched.engine, remediation),
  };
}

const defaults = new Map<string, Thresholds>(
  everyCheck.map((check: Pick<Check, 'id' | 'thresholds'>) => [check.id, check.thresholds ?? {}]),
);

function thresholdsOf(
  checkId: string,
  { thresholds, tags, overrides }: Omit<Watched, 'engine'>,
): Static<typeof JudgedBy>[] {
  const inherited = effectiveThresholds({}, tags, overrides).get(checkId);
  return Object.entries(defaults.get(checkId) ?? {}).map(([name, standard]) => {
    const own = thresholds[checkId]?.[name];
    const below = inherited?.get(name) ?? { value: standard, source: 'default' as const, tag: '' };
    return {
      name,
      unit: thresholdUnit(checkId, name),
      default: standard,
      inherited: below.value,
      ...(own === undefined ? below : { value: own, source: 'connection' as const, tag: '' }),
    };
  });
}

const pages = new Map<string, string>();

function whyOf(checkId: string): string {
  const known = pages.get(checkId);
  if (known !== undefined) return known;
  // A stored finding may belong to a check that no longer exists: only checks of the catalogue have a page.
  const page = defaults.has(checkId) ? readFileSync(inPackage(`docs/checks/${checkId}.md`), 'utf8') : '';
  const why = /## Why it matters\n([\s\S]*?)\n## /.exec(page)?.[1]?.trim() ?? '';
  pages.set(checkId, why);
  return why;
}
