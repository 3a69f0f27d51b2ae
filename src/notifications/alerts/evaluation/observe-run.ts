import type { Finding, Outcome } from '../../../checks/check.ts';
import { CONN_UNREACHABLE } from '../../../checks/connection-findings.ts';
import { findLeftOut } from '../../../checks/fault.ts';
import type { SeriesValue } from '../../../checks/measure.ts';
import { worstFirst } from '../../../checks/score.ts';
import type { PulseMetric } from '../../../vocabulary/alert-metrics.ts';
import type { AlertDetails, StandingAlert } from '../alert-row.ts';
import { compares, type WatchedRule } from '../alert-rule.ts';
import type { AlertWatch, RunFacts } from './run-facts.ts';

/** What a rule compares, as a run found it. */
export interface Observation {
  /** Null = there is nothing to compare, so the condition is over. */
  value: number | null;
  /** The value as it would be without silences. */
  unsilenced: number | null;
  /** What an alert of it says. */
  details: Omit<AlertDetails, 'rule_name' | 'worst' | 'is_clear'>;
  /** Whether the condition begins to hold, if it does so before the threshold is crossed. */
  begins?: boolean;
  /** When it began to hold, if before this run. */
  since?: string;
  /** Not enough was measured to say that the condition holds or is over: only `details.counts` are new. */
  isUnknown?: true;
}

/** Where and when a rule is observed. */
interface Observed {
  rule: WatchedRule;
  facts: RunFacts;
  watch: Pick<AlertWatch, 'forecasts' | 'previous_run_at' | 'pulse'>;
  /** The rule's pending or open alert. */
  alert: StandingAlert | undefined;
  /** `Change.at`. */
  at: string;
}

const DAY_MS = 86_400_000;
const PLACELESS = { check_id: null, database: '', object: null, remediation: null };

/** Observes what a rule compares. Null if the run did not measure it: that neither triggers an alert nor resolves it. */
export function observeRun(observed: Observed): Observation | null {
  switch (observed.rule.metric) {
    case 'score':
      return observeScore(observed);
    case 'unreachable_seconds':
      return observeReach(observed);
    case 'intervals_since_check':
      return quiet('This run is the newest check.');
    case 'findings_critical':
    case 'findings_warning':
      return observeFindings(observed);
    case 'measure':
      return observeMeasure(observed);
    case 'days_left':
      return observeForecast(observed);
    case 'blocked_seconds':
    case 'blocked_sessions':
    case 'load_active_sessions':
      return observePulse(observed.rule.metric, observed);
  }
}

/** Whether a finding is a fault, and nobody silenced it. */
function isFault({ status, severity }: Finding): boolean {
  return status === severity;
}

/** Whether the run reached the server. */
export function isReached(outcomes: readonly Outcome[]): boolean {
  return unreachableFinding(outcomes) === undefined;
}

function unreachableFinding(outcomes: readonly Outcome[]): Finding | undefined {
  return outcomes.find(({ check }) => check.id === CONN_UNREACHABLE.id)?.findings.find(isFault);
}

function quiet(metric_line: string): Observation {
  return { value: 0, unsilenced: 0, details: { ...PLACELESS, metric_line } };
}

function observeScore({ facts }: Observed): Observation {
  const worst = worstFirst(facts.outcomes).find(isFault);
  const because = worst ? ` The worst finding: ${worst.metric_line}` : '';
  const metric_line = `The score is ${facts.score}.${because}`;
  const remediation = worst?.remediation || null;
  const details = { ...PLACELESS, metric_line, remediation };
  return { value: facts.score, unsilenced: facts.unsilencedScore, details };
}

function observeReach({ facts, watch, alert, at }: Observed): Observation {
  const finding = unreachableFinding(facts.measured);
  if (!finding) return quiet('The database answers.');
  const since = alert?.since ?? watch.previous_run_at ?? at;
  const seconds = secondsBetween(since, at);
  const isSilenced = isReached(facts.outcomes);
  const { check_id, metric_line, remediation } = finding;
  const details = { ...PLACELESS, check_id, metric_line, remediation };
  return { value: isSilenced ? 0 : seconds, unsilenced: seconds, details, begins: !isSilenced, since };
}

/** Whole seconds from one instant to another, at least 0. */
export function secondsBetween(from: string | Date, to: string | Date): number {
  return Math.max(0, Math.round((new Date(to).getTime() - new Date(from).getTime()) / 1_000));
}

function observeFindings({ rule, facts, alert }: Observed): Observation {
  const counted = (finding: Finding) =>
    isFault(finding) &&
    (finding.severity === 'critical' ||
      (finding.severity === 'warning' && rule.metric === 'findings_warning'));
  const isMeant = ({ check }: Outcome) => rule.check_id === null || rule.check_id === check.id;
  const before: Record<string, number> = { ...alert?.details.counts };
  const [found, counts, unsilenced] = [new Map<string, number>(), new Map(Object.entries(before)), new Map()];
  for (const outcome of facts.outcomes.filter(isMeant)) {
    const { id } = outcome.check;
    const count = outcome.findings.filter(counted).length;
    found.set(id, count);
    const isWhole = outcome.measured && outcome.unmeasured.length === 0;
    counts.set(id, isWhole ? count : Math.max(count, before[id] ?? 0));
  }
  for (const { check, findings } of facts.measured.filter(isMeant)) {
    unsilenced.set(check.id, Math.max(findings.filter(counted).length, counts.get(check.id) ?? 0));
  }
  const total = sum(counts);
  const worst = worstFirst(facts.outcomes.filter(isMeant)).find(counted);
  const kept = Object.fromEntries([...counts].filter(([, count]) => count > 0));
  const noun = rule.metric === 'findings_critical' ? 'critical finding' : 'finding of warning or worse';
  const metric_line = `${total} ${total === 1 ? noun : noun.replace('finding', 'findings')}.${worst ? ` ${worst.metric_line}` : ''}`;
  const details = {
    check_id: worst?.check_id ?? rule.check_id,
    database: worst?.database ?? '',
    object: worst?.object ?? null,
    remediation: worst?.remediation || null,
    metric_line,
    counts: kept,
  };
  const observation = { value: total, unsilenced: Math.max(total, sum(unsilenced)), details };
  const holds = (value: number) => compares(value, rule.operator, rule.threshold);
  // What was found in an earlier run, and not looked for in this one, proves nothing.
  return holds(total) && !holds(sum(found)) ? { ...observation, isUnknown: true } : observation;
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}

function observeMeasure({ rule, facts, alert }: Observed): Observation | null {
  const outcome = facts.outcomes.find(({ check }) => check.id === rule.check_id);
  const isVital = rule.check_id === '';
  if (!isVital && !outcome?.measured) return null;
  const all = facts.measures.filter(
    ({ checkId, metric, value }) =>
      checkId === rule.check_id && metric === rule.measure && Number.isFinite(value),
  );
  const heard = isVital ? all : withoutSilenced(all, rule.check_id, facts);
  const [worst, loudest] = [worstOf(rule, heard), worstOf(rule, all)];
  const isPartial = isUnread(alert?.details ?? PLACELESS, facts, outcome, all);
  if (!worst && (isVital || isPartial) && !loudest) return null;
  const unsilenced = loudest?.value ?? null;
  const place = worst ?? loudest;
  if (!worst || !place) {
    return {
      value: null,
      unsilenced,
      details: { ...PLACELESS, metric_line: 'Nothing is measured any more.' },
    };
  }
  const { value, database, object } = worst;
  const finding = outcome?.findings.find(
    (one) => isFault(one) && one.database === database && one.object === object,
  );
  const where = object === null ? '' : ` of ${object}`;
  const details = {
    check_id: rule.check_id,
    database,
    object,
    remediation: finding?.remediation || null,
    metric_line: finding?.metric_line ?? `${rule.measure}${where} is ${number(value)}.`,
  };
  const observation = { value, unsilenced, details };
  const isOver = !compares(value, rule.operator, rule.threshold);
  return isPartial && alert && isOver ? { ...observation, isUnknown: true } : observation;
}

/** Whether the place of an alert was not read, so that nobody knows what its values are. No outcome says so of a vital. */
function isUnread(
  { database, object }: Pick<AlertDetails, 'database' | 'object'>,
  { outcomes, leftOut }: RunFacts,
  outcome: Outcome | undefined,
  values: readonly SeriesValue[],
): boolean {
  if (findLeftOut({ database, object }, leftOut) !== undefined) return true;
  if (outcome) return outcome.unmeasured.includes(database);
  const isRead = database === '' || values.some((value) => value.database === database);
  return !isRead && outcomes.some(({ unmeasured }) => unmeasured.includes(database));
}

/** The values of objects that nobody silenced. */
function withoutSilenced(values: SeriesValue[], checkId: string | null, facts: RunFacts): SeriesValue[] {
  const of = (outcomes: readonly Outcome[]) =>
    outcomes.find(({ check }) => check.id === checkId)?.findings.filter(isFault) ?? [];
  const [faults, heard] = [of(facts.measured), of(facts.outcomes)];
  if (faults.length === heard.length) return values;
  if (heard.length === 0 && faults.some(({ object }) => object === null)) return [];
  const placeOf = (place: { database: string; object: string | null }) =>
    JSON.stringify([place.database, place.object]);
  const left = new Set(heard.map(placeOf));
  const silenced = new Set(faults.map(placeOf).filter((place) => !left.has(place)));
  // The value of the whole server or database is that of its worst object, perhaps a silenced one.
  const hasObjects = values.some(({ object }) => object !== null);
  return values.filter((value) => !silenced.has(placeOf(value)) && !(hasObjects && value.object === null));
}

function worstOf({ operator }: WatchedRule, values: readonly SeriesValue[]): SeriesValue | undefined {
  const sign = operator === '<' || operator === '<=' ? 1 : -1;
  return values.toSorted(
    (a, b) => sign * (a.value - b.value) || Number(a.object === null) - Number(b.object === null),
  )[0];
}

function observeForecast({ rule, facts, watch, at }: Observed): Observation | null {
  if (!isReached(facts.measured)) return null;
  const now = new Date(at).getTime();
  const left = watch.forecasts
    .filter(
      ({ check_id, metric }) =>
        (rule.check_id === null || rule.check_id === check_id) &&
        (rule.measure === null || rule.measure === metric),
    )
    .flatMap((forecast) =>
      forecast.full_at === null
        ? []
        : [{ ...forecast, days: Math.max(0, (new Date(forecast.full_at).getTime() - now) / DAY_MS) }],
    )
    .toSorted((a, b) => a.days - b.days)[0];
  if (!left)
    return {
      value: null,
      unsilenced: null,
      details: { ...PLACELESS, metric_line: 'Nothing fills up any more.' },
    };
  const { check_id, database, object, metric, days } = left;
  const value = Math.round(days * 100) / 100;
  const finding = facts.outcomes
    .find(({ check }) => check.id === check_id)
    ?.findings.find((one) => isFault(one) && one.object === object && one.database === database);
  const where = object === null ? '' : ` of ${object}`;
  const metric_line = `${metric}${where} reaches its limit in ${number(value)} days.`;
  const remediation = finding?.remediation || null;
  return { value, unsilenced: value, details: { check_id, database, object, remediation, metric_line } };
}

function observePulse(metric: PulseMetric, { watch }: Observed): Observation | null {
  const measured = watch.pulse?.[metric] ?? null;
  if (measured === null) return null;
  const value = Number(measured.toPrecision(6));
  return { value, unsilenced: value, details: { ...PLACELESS, metric_line: PULSE_LINES[metric](value) } };
}

const PULSE_LINES: Readonly<Record<PulseMetric, (value: number) => string>> = {
  blocked_seconds: (seconds) =>
    seconds === 0
      ? 'No session waits for a lock.'
      : `A session has waited for a lock for ${number(seconds)} s.`,
  blocked_sessions: (sessions) =>
    sessions === 1 ? '1 session waits for a lock.' : `${number(sessions)} sessions wait for a lock.`,
  load_active_sessions: (sessions) =>
    `${number(sessions)} sessions were active in the last minute, on average.`,
};

function number(value: number): string {
  return String(Number(value.toPrecision(6)));
}
