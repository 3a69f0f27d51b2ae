import type { Finding } from '../../checks/check.ts';
import { keepsHighest, type Level, needsActivity, reaches } from '../../checks/threshold-facts.ts';
import { crosses, MEASURED_OBJECTS } from '../../checks/worst-measures.ts';
import { SEVERITIES, type Severity } from '../../vocabulary/severities.ts';

/** A finding of the last run, as stored. */
export type LastFinding = Pick<Finding, 'check_id' | 'database' | 'object' | 'status'> & {
  measured?: Pick<NonNullable<Finding['measured']>, 'metric' | 'value'> | null | undefined;
};

/** A value of the last run, as stored, with what it was compared with then. */
export interface LastValue {
  check_id: string;
  metric: string;
  database: string;
  object: string | null;
  value: number;
  operator: '>=' | '<=';
  warning: number | null;
  critical: number | null;
}

/** A finding that other thresholds would change. Null = no finding. */
export interface ChangedFinding {
  check_id: string;
  database: string;
  /** Null = the server, or an object whose name was not kept (`is_named` is false). */
  object: string | null;
  is_named: boolean;
  before: Severity | null;
  after: Severity | null;
  metric: string;
  value: number;
  /** False if more than this value decides, and the run did not keep it. */
  is_certain: boolean;
}

/** What other thresholds of a check would make of the last run. */
export interface JudgedAgain {
  changed: ChangedFinding[];
  /** More objects may get a finding: the run kept only its worst values. */
  may_have_more: boolean;
}

/** The levels of a check and their values: the new ones. */
export interface Levels {
  levels: readonly Level[];
  values: Readonly<Record<string, number>>;
}

/** Judges a check's last run with other thresholds. `findings` and `values` are those of the check. */
export function judgeAgain(
  checkId: string,
  { levels, values }: Levels,
  findings: readonly LastFinding[],
  lastValues: readonly LastValue[],
): JudgedAgain {
  const severityOf = (metric: string, value: number) =>
    severityIn(
      levels.filter((level) => level.metric === metric),
      values,
      value,
    );
  const standing = findings.flatMap((finding): ChangedFinding[] => {
    const { measured, status, database, object } = finding;
    const before = SEVERITIES.find((severity) => severity === status);
    if (!measured || before === undefined || !levels.some(({ metric }) => metric === measured.metric))
      return [];
    const { metric, value } = measured;
    const after = severityOf(metric, value);
    if (after === before) return [];
    return [
      { check_id: checkId, database, object, is_named: true, before, after, metric, value, is_certain: true },
    ];
  });

  const judged = lastValues.filter(({ metric }) => levels.some((level) => level.metric === metric));
  // What was over its threshold has a finding already, or is part of one on its schema.
  const isFault = (one: LastValue) => crosses(one, one.warning) || crosses(one, one.critical);
  const reached = judged.filter((one) => !isFault(one) && severityOf(one.metric, one.value) !== null);
  const named = (one: LastValue) =>
    reached.some((other) => other.metric === one.metric && other.object !== null);
  const appearing = reached
    .filter((one) => one.object !== null || !keepsHighest(checkId) || !named(one))
    .map(
      ({ database, object, metric, value }): ChangedFinding => ({
        check_id: checkId,
        database,
        object,
        before: null,
        after: severityOf(metric, value),
        metric,
        value,
        is_named: object !== null || !keepsHighest(checkId),
        is_certain: !needsActivity(checkId),
      }),
    );
  return {
    changed: [...standing, ...appearing],
    may_have_more: mayHaveMore(checkId, judged, severityOf, isFault),
  };
}

/** The gravest level that a value has reached; null if it has not even reached the mildest. */
function severityIn(
  levels: readonly Level[],
  values: Readonly<Record<string, number>>,
  value: number,
): Severity | null {
  const gravestFirst = levels.toSorted(
    (one, other) => SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity),
  );
  const mildest = gravestFirst.at(-1);
  const isReached = (level: Level) => reaches(level, value, values[level.name] ?? Number.NaN);
  if (!mildest || !isReached(mildest)) return null;
  return gravestFirst.find(isReached)?.severity ?? null;
}

function mayHaveMore(
  checkId: string,
  judged: readonly LastValue[],
  severityOf: (metric: string, value: number) => Severity | null,
  isFault: (one: LastValue) => boolean,
): boolean {
  if (keepsHighest(checkId)) {
    // Below 90 % of the old threshold only the highest value was kept.
    return judged.some(
      ({ object, metric, value, warning }) =>
        object === null && severityOf(metric, Math.min(value, 0.9 * (warning ?? 0))) !== null,
    );
  }
  const places = Map.groupBy(judged, ({ metric, database }) => JSON.stringify([metric, database]));
  return [...places.values()].some((values) => {
    const found = values.filter((one) => severityOf(one.metric, one.value) !== null);
    return found.length >= MEASURED_OBJECTS && found.some((one) => !isFault(one));
  });
}
