import { catalogues } from '../../checks/catalogue.ts';
import type { Finding, Outcome } from '../../checks/check.ts';
import { connectionFindings } from '../../checks/connection-findings.ts';
import { checksOf } from '../../checks/engine-catalogue.ts';
import { type OwnCheck, toCheck } from '../../checks/own/own-check.ts';
import { engineVitals } from '../../checks/vitals/engine-vitals.ts';
import { cleanText } from '../../platform/text/clean-text.ts';
import type { Fact, ReportedReading } from '../../runs/changes/facts.ts';
import type { QueryReport } from '../../runs/queries/query-run.ts';
import { cleanQueryText } from '../../runs/queries/query-texts-sql.ts';
import type { Engine } from '../../vocabulary/engines.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import { type CounterSample, cleanRows } from '../counters.ts';
import { cleanMeasures } from '../measures/clean-measures.ts';
import type { Measured } from '../nothing-measured.ts';
import { cleanObject, exactRemediation, plainCheck } from '../outcome.ts';

/** What a collector reports of a run, after its form was checked. Whatever it says of a check but its id is not believed. */
export type ReportedMeasured = Pick<
  Measured,
  'samples' | 'measures' | 'readings' | 'queries' | 'cost' | 'server'
> & {
  /** Absent = an older version. */
  leftOut?: string[];
  outcomes: (Omit<Outcome, 'check' | 'findings'> & {
    check: { id: string };
    findings: Omit<Finding, 'check_id' | 'category' | 'title'>[];
  })[];
};

const LINE = 500;
const NAME = 200;
const SUBJECT = 1_000;
const FACT = 4_000;
const QUERY_NAME = 100;

/**
 * A collector's report as the result of a run: the texts of checks are the service's own, names and lines are made safe again, and what
 * no run of this engine reports is left out. So a collector of another version works, and a hostile one can only say something wrong
 * of its own connections.
 */
export function acceptMeasured(
  engine: Engine,
  reported: ReportedMeasured,
  { queryTexts, own }: { queryTexts: boolean; own: readonly OwnCheck[] },
): Measured {
  const all = [...connectionFindings, ...checksOf(catalogues[engine]), ...own.map(toCheck)];
  const known = new Map<string, Outcome['check']>(all.map((check) => [check.id, check]));
  const counted = new Set([...known.keys(), ...engineVitals[engine].readings.map(({ id }) => String(id))]);
  const isKnown = ({ checkId }: { checkId: string }) => counted.has(checkId);
  const outcomes = new Map(
    reported.outcomes.flatMap((outcome) => {
      const check = known.get(outcome.check.id);
      return check ? [[check.id, acceptOutcome(check, outcome)] as const] : [];
    }),
  );
  return {
    outcomes: [...outcomes.values()],
    leftOut: (reported.leftOut ?? []).map((database) => cleanObject(database)),
    samples: acceptSamples(reported.samples.filter(isKnown)),
    measures: cleanMeasures(reported.measures.filter((one) => one.checkId === '' || isKnown(one))),
    readings: acceptReadings(reported.readings),
    queries: reported.queries && acceptQueries(reported.queries, queryTexts),
    cost: reported.cost,
    hostKey: null,
    server: reported.server,
    failure: null,
  };
}

function acceptOutcome(check: Outcome['check'], reported: ReportedMeasured['outcomes'][number]): Outcome {
  const { id: check_id, category, title } = check;
  const { measured, unmeasured, near, incomplete } = reported;
  return {
    check: plainCheck(check),
    findings: reported.findings.map(({ missing_grant, measured: value, ...finding }) => ({
      check_id,
      category,
      title,
      ...worstAllowed(check, finding),
      metric_line: cleanText(finding.metric_line, LINE),
      remediation: exactRemediation(finding.remediation),
      database: cleanObject(finding.database),
      object: cleanObject(finding.object),
      ...(missing_grant !== undefined && { missing_grant: exactRemediation(missing_grant) }),
      ...(value && { measured: value }),
    })),
    measured,
    unmeasured: unmeasured.map((database) => cleanObject(database)),
    near: near.map(({ database, object }) => ({
      database: cleanObject(database),
      object: cleanObject(object),
    })),
    ...(incomplete && { incomplete }),
  };
}

/** No finding is worse than its check can be. That of a fault is its status too. */
function worstAllowed(
  { maxSeverity }: Outcome['check'],
  { status, severity }: Pick<Finding, 'status' | 'severity'>,
): Pick<Finding, 'status' | 'severity'> {
  const rank = (one: Finding['severity']) => SEVERITIES.indexOf(one);
  const allowed = rank(severity) < rank(maxSeverity) ? maxSeverity : severity;
  const isFault = SEVERITIES.some((one) => one === status);
  return { status: isFault ? allowed : status, severity: allowed };
}

function acceptSamples(samples: readonly CounterSample[]): CounterSample[] {
  const cleaned = samples.map(({ checkId, database, after, rows }) => ({
    checkId,
    database: cleanObject(database),
    after,
    rows: cleanRows(rows),
  }));
  // The store takes one of each.
  return [...new Map(cleaned.map((one) => [JSON.stringify([one.checkId, one.database]), one])).values()];
}

function acceptReadings(readings: readonly ReportedReading[]): ReportedReading[] {
  const cleaned = readings.map(
    ({ kind, database, digest, stored }): ReportedReading => ({
      kind,
      database: cleanText(database, NAME),
      digest,
      ...(stored && {
        stored: { basis: cleanText(stored.basis, NAME), facts: stored.facts.map(acceptFact) },
      }),
    }),
  );
  return [...new Map(cleaned.map((one) => [JSON.stringify([one.kind, one.database]), one])).values()];
}

function acceptFact([kind, subject, value, more]: Fact): Fact {
  const plain = [kind, cleanText(subject, SUBJECT), cleanText(value, FACT)] as const;
  if (!more) return plain;
  const details = Object.entries(more).map(([name, text]) => [name, cleanText(text, SUBJECT)]);
  return [...plain, Object.fromEntries(details)];
}

function acceptQueries(
  { state, grown, calls, seconds, texts, catalogue }: QueryReport,
  withTexts: boolean,
): QueryReport {
  return {
    state,
    grown: grown.map((one) => ({
      ...one,
      database: cleanText(one.database, QUERY_NAME),
      role: cleanText(one.role, QUERY_NAME),
    })),
    calls,
    seconds,
    texts: withTexts ? texts.map(([query, text]) => [query, cleanQueryText(text)]) : [],
    ...(catalogue && { catalogue }),
  };
}
