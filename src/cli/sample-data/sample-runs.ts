import type { Finding, Outcome } from '../../checks/check.ts';
import { isForeignCheck, isSqlEngine } from '../../vocabulary/engines.ts';
import { FINDING_STATUSES } from '../../vocabulary/severities.ts';
import type { Catalogue, ListedCheck } from '../command.ts';
import { sampleOkLine } from './faults/sample-ok-lines.ts';
import { sampleOwnCheck } from './own-check/sample-own-check.ts';
import { type SampleConnection, type SampleVersion, sampleVersion } from './sample-connection.ts';
import { findingOf, type SampleTicket } from './sample-tickets.ts';

/** The result of a run. `findings` is JSON, worst first, or null if only the score is stored. */
export interface RunReport {
  score: number;
  summary: string;
  findings: string | null;
}

/**
 * Makes a function that computes the result of a run that found exactly these tickets on such a server:
 * with findings if `whole`, else only the score.
 */
export function runReporter(
  catalogue: Catalogue,
  connection: Pick<SampleConnection, 'engine' | 'hasOwnCheck' | 'seed'>,
): (tickets: readonly SampleTicket[], whole: boolean) => RunReport {
  const { score, summaryText } = catalogue;
  const checks = checksOn(catalogue, connection);
  const checkOf = new Map(checks.map((check) => [check.id, check]));
  const version = sampleVersion(connection);
  const fine = new Map(checks.map((check) => [check.id, fineFinding(check, version)]));
  const fineText = new Map([...fine].map(([id, finding]) => [id, JSON.stringify(finding)]));
  const outcome = (check: ListedCheck, findings: Finding[]): Outcome => ({
    check,
    findings,
    measured: true,
    unmeasured: [],
    near: [],
  });
  const well = checks.map((check) => outcome(check, [fineFinding(check, version)]));
  const wellPoint = { score: score(well), summary: summaryText(well), findings: null };
  const wellRun = { ...wellPoint, findings: `[${[...fineText.values()].join(',')}]` };

  return (tickets, whole) => {
    if (tickets.length === 0) return whole ? wellRun : wellPoint;
    const faults = Map.groupBy(
      tickets.map((ticket) => findingOf(ticket, checkOf)),
      ({ check_id }) => check_id,
    );
    // A check without a fault has no effect on the score or on a summary with faults.
    const outcomes = checks.flatMap((check) => {
      const findings = faults.get(check.id);
      return findings ? [outcome(check, findings)] : [];
    });
    const report = { score: score(outcomes), summary: summaryText(outcomes), findings: null };
    if (!whole) return report;
    const found = outcomes
      .flatMap(({ findings }) => findings)
      .sort((a, b) => FINDING_STATUSES.indexOf(a.status) - FINDING_STATUSES.indexOf(b.status))
      .map((finding) => JSON.stringify(finding));
    const rest = checks.filter(({ id }) => !faults.has(id)).map(({ id }) => fineText.get(id));
    return { ...report, findings: `[${[...found, ...rest].join(',')}]` };
  };
}

/** The checks of a connection. A PgBouncer has no backups. */
function checksOn(
  { checks }: Catalogue,
  { engine, hasOwnCheck }: Pick<SampleConnection, 'engine' | 'hasOwnCheck'>,
): ListedCheck[] {
  const ofEngine = checks.filter(
    ({ id }) => !isForeignCheck(engine, id) && (isSqlEngine(engine) || !id.startsWith('BACKUP_')),
  );
  return hasOwnCheck ? [...ofEngine, sampleOwnCheck] : ofEngine;
}

function fineFinding({ id, category, title, maxSeverity }: ListedCheck, version: SampleVersion): Finding {
  return {
    check_id: id,
    category,
    status: 'ok',
    title,
    metric_line: sampleOkLine(id, version),
    remediation: '',
    severity: maxSeverity,
    database: '',
    object: null,
  };
}
