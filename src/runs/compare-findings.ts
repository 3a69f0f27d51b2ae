import type { Finding } from '../checks/check.ts';
import type { FaultMeasure } from '../checks/measure.ts';
import { SEVERITIES, type Severity } from '../vocabulary/severities.ts';

/** A fault as one run found it. */
interface FaultOfRun {
  severity: Severity;
  metric_line: string;
  measured: FaultMeasure | null;
}

/** A fault that at least one of two runs found; null = that run did not. */
interface ComparedFault extends Pick<Finding, 'check_id' | 'category' | 'title' | 'database' | 'object'> {
  before: FaultOfRun | null;
  after: FaultOfRun | null;
}

/** The faults of two runs. Each list is ordered worst first. */
export interface ComparedFindings {
  new: ComparedFault[];
  gone: ComparedFault[];
  /** By severity. */
  worse: ComparedFault[];
  better: ComparedFault[];
  /** Faults of one run that the other could not have found: it skipped the check, or the check failed, or they were silenced. */
  unknown: ComparedFault[];
  /** Faults of the same severity in both runs. */
  unchanged: number;
}

/** Compares the findings of an earlier run with those of a later one. */
export function compareFindings(earlier: readonly Finding[], later: readonly Finding[]): ComparedFindings {
  const [before, after] = [indexOf(earlier), indexOf(later)];
  const compared: ComparedFindings = { new: [], gone: [], worse: [], better: [], unknown: [], unchanged: 0 };
  for (const [key, finding] of after.faults) {
    const former = before.faults.get(key);
    const fault = comparedFault(former, finding);
    if (!former) compared[wasMeasured(before, key, finding) ? 'new' : 'unknown'].push(fault);
    else if (former.severity === finding.severity) compared.unchanged += 1;
    else compared[rank(finding.severity) < rank(former.severity) ? 'worse' : 'better'].push(fault);
  }
  for (const [key, finding] of before.faults) {
    if (after.faults.has(key)) continue;
    compared[wasMeasured(after, key, finding) ? 'gone' : 'unknown'].push(comparedFault(finding, undefined));
  }
  for (const list of [compared.new, compared.gone, compared.worse, compared.better, compared.unknown]) {
    list.sort((a, b) => rankOf(a) - rankOf(b));
  }
  return compared;
}

/** The findings of a run by what they are about. */
interface Indexed {
  faults: Map<string, Finding>;
  silenced: Set<string>;
  /** Checks that looked for faults. */
  measured: Set<string>;
}

function indexOf(findings: readonly Finding[]): Indexed {
  const indexed: Indexed = { faults: new Map(), silenced: new Set(), measured: new Set() };
  for (const finding of findings) {
    const isFault = finding.status === finding.severity;
    if (isFault) indexed.faults.set(keyOf(finding), finding);
    if (isSilenced(finding)) indexed.silenced.add(keyOf(finding));
    if (isFault || isSilenced(finding) || finding.status === 'ok') indexed.measured.add(finding.check_id);
  }
  // In some database it failed, and nobody knows in which of them a fault is gone.
  for (const { check_id } of findings.filter(isUnseen)) indexed.measured.delete(check_id);
  return indexed;
}

// A check that was skipped has one finding, about nothing in particular and with nothing to do; a silenced fault is listed as
// skipped too.
function isSilenced({ status, database, object, remediation }: Finding): boolean {
  return status === 'skipped' && (database !== '' || object !== null || remediation !== '');
}

/** Whether a finding says where its check could not look. */
function isUnseen(finding: Finding): boolean {
  return finding.status === 'error' || (finding.status === 'skipped' && !isSilenced(finding));
}

/** Whether a run without this fault looked for it, so that it was not there. */
function wasMeasured({ measured, silenced }: Indexed, key: string, { check_id }: Finding): boolean {
  return measured.has(check_id) && !silenced.has(key);
}

function comparedFault(before: Finding | undefined, after: Finding | undefined): ComparedFault {
  const { check_id, category, title, database, object } = (after ?? before) as Finding;
  return { check_id, category, title, database, object, before: faultOf(before), after: faultOf(after) };
}

function faultOf(finding: Finding | undefined): FaultOfRun | null {
  if (!finding) return null;
  const { severity, metric_line, measured = null } = finding;
  return { severity, metric_line, measured };
}

const rank = (severity: Severity) => SEVERITIES.indexOf(severity);
const rankOf = ({ before, after }: ComparedFault) => rank((after ?? before)?.severity ?? 'info');

// JSON, not a text with a separator: names from the server could contain the separator.
function keyOf({ check_id, database, object }: Finding): string {
  return JSON.stringify([check_id, database, object]);
}
