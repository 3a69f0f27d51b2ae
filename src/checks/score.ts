import { FINDING_STATUSES, type FindingStatus, SEVERITIES, type Severity } from '../vocabulary/severities.ts';
import type { Check, Finding, Outcome } from './check.ts';

/** What the score of a run depends on. */
type Scored = Pick<Outcome, 'measured' | 'unmeasured' | 'incomplete'> & {
  check: Pick<Check, 'id' | 'title'>;
  findings: Pick<Finding, 'status'>[];
};

/** A ticket that was open before the run. */
export interface OpenTicket {
  check_id: string;
  severity: Severity;
}

const NOUNS = {
  critical: ['critical', 'criticals'],
  warning: ['warning', 'warnings'],
  info: ['note', 'notes'],
};
const TITLES = 3;

/**
 * The health score of a run, 0 to 100. The penalty of a check depends on its worst level and the number of objects at
 * that level: critical 40 to 50, warning 8 to 15 (all warnings at most 45), info 1 (all at most 5). With a critical
 * the score is at most 49. A check that could not measure something keeps the penalty of its open tickets; if it was
 * measured in part, the higher of both penalties counts.
 */
export function score(outcomes: readonly Scored[], openTickets: readonly OpenTicket[]): number {
  const total = { critical: 0, warning: 0, info: 0 };
  for (const { check, findings, measured, unmeasured } of outcomes) {
    const found = penalty(findings.map(({ status }) => status));
    const left =
      measured && unmeasured.length === 0 ? [] : openTickets.filter(({ check_id }) => check_id === check.id);
    const kept = penalty(left.map(({ severity }) => severity));
    const graver = kept.points > found.points ? kept : found;
    total[graver.level] += graver.points;
    if (found.level === 'critical' && (check.id === 'CONN_UNREACHABLE' || check.id === 'CONN_AUTH_FAILED'))
      return 0;
  }
  const sum = total.critical + Math.min(45, total.warning) + Math.min(5, total.info);
  return Math.min(total.critical > 0 ? 49 : 100, Math.max(0, 100 - sum));
}

function penalty(statuses: readonly FindingStatus[]): { level: Severity; points: number } {
  const count = (level: Severity) => statuses.filter((status) => status === level).length;
  const [critical, warning, info] = [count('critical'), count('warning'), count('info')];
  if (critical > 0) return { level: 'critical', points: Math.min(50, 40 + 2 * (critical - 1)) };
  if (warning > 0) return { level: 'warning', points: Math.min(15, 8 + (warning - 1)) };
  return { level: 'info', points: info > 0 ? 1 : 0 };
}

/** All findings of a run, worst first; within a level as the catalogue and the checks order them. */
export function worstFirst(outcomes: readonly Pick<Outcome, 'findings'>[]): Finding[] {
  return outcomes
    .flatMap(({ findings }) => findings)
    .sort((a, b) => FINDING_STATUSES.indexOf(a.status) - FINDING_STATUSES.indexOf(b.status));
}

/**
 * One line on a run: `1 critical, 2 warnings: Invalid index, Table with many dead rows`, or
 * `No problem found in 14 checks`; then how many findings are silenced, how many checks could not be measured, and how
 * many of all checks did not look at everything.
 */
export function summaryText(outcomes: readonly Scored[]): string {
  const counts = SEVERITIES.flatMap((level) => {
    const count = outcomes
      .flatMap(({ findings }) => findings)
      .filter(({ status }) => status === level).length;
    return count === 0 ? [] : [`${count} ${NOUNS[level][count === 1 ? 0 : 1]}`];
  });
  const titles = SEVERITIES.flatMap((level) =>
    outcomes
      .filter(({ findings }) => findings.some(({ status }) => status === level))
      .map(({ check }) => check.title),
  );
  const named = [...new Set(titles)];
  // If a check ran, its skipped findings are silenced faults.
  const quiet = outcomes.filter(({ findings }) =>
    findings.every(({ status }) => status === 'skipped' || status === 'error'),
  );
  const blind = quiet.filter(({ measured, unmeasured }) => !measured || unmeasured.length > 0);
  const partly = outcomes.filter(
    (outcome) => !quiet.includes(outcome) && outcome.findings.some(({ status }) => status === 'error'),
  );
  const silenced = outcomes
    .filter((outcome) => !blind.includes(outcome))
    .flatMap(({ findings }) => findings)
    .filter(({ status }) => status === 'skipped').length;
  const well = outcomes.length - quiet.length;
  const more = named.length > TITLES ? ` and ${named.length - TITLES} more` : '';
  const text =
    counts.length > 0
      ? `${counts.join(', ')}: ${named.slice(0, TITLES).join(', ')}${more}`
      : `No problem found in ${well} ${well === 1 ? 'check' : 'checks'}`;
  const incomplete = outcomes.filter((outcome) => outcome.incomplete === true).length;
  const rest = [
    ...(silenced === 0 ? [] : [`${silenced} silenced`]),
    ...(blind.length === 0 ? [] : [`${blind.length} not measured`]),
    ...(partly.length === 0 ? [] : [`${partly.length} measured in part`]),
    ...(incomplete === 0 ? [] : [`${incomplete} incomplete for size or time`]),
  ];
  return [text, ...rest].join('; ');
}
