import { type AlertDetails, RESOLUTIONS, type StandingAlert } from '../alert-row.ts';
import { compares, isWorse, type WatchedRule } from '../alert-rule.ts';
import type { Observation } from './observe-run.ts';

/** A change of an alert. */
export interface AlertStep {
  write: 'insert' | 'update' | 'delete';
  connectionId: number;
  alert: NextAlert;
  /** What the account's log is told. */
  logged: 'alert_triggered' | 'alert_resolved' | null;
  /** What destinations are told. */
  announced: 'alert.triggered' | 'alert.resolved' | null;
  isReminder?: true;
}

/** An alert to store; `alert_id` is null until it is. */
export type NextAlert = Omit<StandingAlert, 'alert_id'> & { alert_id: number | null };

/** When, and whether destinations may be told. */
export interface Moment {
  connectionId: number;
  /** RFC 3339. */
  at: string;
  /** False while the alert must be silent: in maintenance, behind `unreachable`, or without a destination. */
  mayAnnounce: boolean;
  /** What the payload says instead of the rule's metric and threshold. */
  payload?: { metric: string; threshold: number };
}

const DAY_MS = 86_400_000;
const FLAPS = 3;

/** How an observation changes the alert of a rule and connection; null if it does not. */
export function advanceAlert(
  rule: WatchedRule,
  { standing, recent }: RuleAlerts,
  observation: Observation,
  moment: Moment,
): AlertStep | null {
  if (observation.isUnknown) return standing ? withCounts(standing, observation, moment) : null;
  if (standing?.state === 'open') return advanceOpen(rule, standing, observation, moment);
  return advancePending(rule, { standing, recent }, observation, moment);
}

/** A rule's alerts for a connection. */
export interface RuleAlerts {
  /** Pending or open. */
  standing?: StandingAlert | undefined;
  /** The latest one that was resolved within 24 h. */
  recent?: StandingAlert | undefined;
}

function withCounts(standing: StandingAlert, { details }: Observation, moment: Moment): AlertStep | null {
  const { counts } = details;
  if (counts === undefined || JSON.stringify(counts) === JSON.stringify(standing.details.counts)) return null;
  return update(moment, { ...standing, details: { ...standing.details, counts } });
}

function advancePending(
  rule: WatchedRule,
  { standing, recent }: RuleAlerts,
  observation: Observation,
  moment: Moment,
): AlertStep | null {
  const { value, begins, since = moment.at } = observation;
  const holds = value !== null && compares(value, rule.operator, rule.threshold);
  if (value === null || !(begins ?? holds)) {
    return standing ? step('delete', moment, standing) : null;
  }
  const pending: NextAlert = standing
    ? { ...standing, runs: standing.runs + 1 }
    : { ...newAlert(rule, moment), since, value, details: detailsOf(rule, observation, value) };
  const seconds = (Date.parse(moment.at) - Date.parse(pending.since)) / 1_000;
  if (!holds || pending.runs < rule.for_runs || seconds < rule.for_seconds) {
    if (!standing) return step('insert', moment, pending);
    const counts = observation.details.counts;
    const details = counts ? { ...pending.details, counts } : pending.details;
    const isNews = rule.for_runs > 1 || JSON.stringify(details) !== JSON.stringify(standing.details);
    return isNews ? update(moment, { ...pending, details }) : null;
  }
  const open: NextAlert = {
    ...pending,
    state: 'open',
    triggered_at: moment.at,
    value,
    severity: rule.severity,
    operator: rule.operator,
    ...payloadOf(rule, moment),
    details: detailsOf(rule, observation, value),
    reopened_at: reopenings(recent, moment.at),
    announced_at: moment.mayAnnounce ? moment.at : null,
  };
  return {
    ...step(standing ? 'update' : 'insert', moment, open),
    logged: 'alert_triggered',
    announced: moment.mayAnnounce ? 'alert.triggered' : null,
  };
}

function advanceOpen(
  rule: WatchedRule,
  alert: StandingAlert,
  observation: Observation,
  moment: Moment,
): AlertStep | null {
  const { value } = observation;
  const over = (number: number | null) =>
    number === null || !compares(number, rule.operator, rule.clear_threshold ?? rule.threshold);
  if (over(value)) {
    if (isHeld(alert, moment.at)) {
      if (alert.details.is_clear) return null;
      const { counts = alert.details.counts } = observation.details;
      return update(moment, {
        ...alert,
        details: { ...alert.details, ...(counts && { counts }), is_clear: true },
      });
    }
    const isSilenced = !over(observation.unsilenced);
    return resolveAlert(alert, isSilenced ? RESOLUTIONS.silenced : RESOLUTIONS.cleared, moment);
  }
  const details = openDetails(rule, alert, observation);
  const isAnnounced = alert.announced_at === null && moment.mayAnnounce && !isAcknowledged(alert, moment.at);
  const next = { ...alert, details, announced_at: isAnnounced ? moment.at : alert.announced_at };
  if (!isAnnounced && JSON.stringify(details) === JSON.stringify(alert.details)) return null;
  return { ...update(moment, next), announced: isAnnounced ? 'alert.triggered' : null };
}

/** A worse value, its object and its words replace those before. */
function openDetails(rule: WatchedRule, { details }: StandingAlert, observation: Observation): AlertDetails {
  const { is_clear: _, ...before } = details;
  const { value } = observation;
  // The seconds grow in each run, which is no news.
  const isWorst =
    value !== null && rule.metric !== 'unreachable_seconds' && isWorse(value, rule.operator, before.worst);
  if (isWorst) return { ...before, ...detailsOf(rule, observation, value) };
  const { counts } = observation.details;
  return counts ? { ...before, counts } : before;
}

/** Resolves an open alert. Destinations are told if they were told of the alert. */
export function resolveAlert(
  alert: StandingAlert,
  resolution: string,
  moment: Omit<Moment, 'mayAnnounce'>,
): AlertStep {
  return {
    ...update(moment, { ...alert, state: 'resolved', resolved_at: moment.at, resolution }),
    logged: 'alert_resolved',
    announced: alert.announced_at === null ? null : 'alert.resolved',
  };
}

/** Whether somebody acknowledged the alert and that is not over. */
function isAcknowledged(
  {
    acknowledged_at,
    acknowledged_until: until,
  }: Pick<StandingAlert, 'acknowledged_at' | 'acknowledged_until'>,
  at: string,
): boolean {
  return acknowledged_at !== null && (until === null || Date.parse(until) > Date.parse(at));
}

/** Whether an alert flaps: it opened again three times within 24 h, the third time less than 24 h ago. */
function isHeld({ reopened_at }: Pick<StandingAlert, 'reopened_at'>, at: string): boolean {
  const times = reopened_at.map((time) => Date.parse(time));
  const [first, last] = [times.at(-FLAPS), times.at(-1)];
  return (
    first !== undefined && last !== undefined && last - first <= DAY_MS && Date.parse(at) - last < DAY_MS
  );
}

function reopenings(recent: StandingAlert | undefined, at: string): string[] {
  if (recent?.resolved_at == null || recent.resolution !== RESOLUTIONS.cleared) return [];
  const isRecent = (time: string) => Date.parse(at) - Date.parse(time) <= DAY_MS;
  return isRecent(recent.resolved_at) ? [...recent.reopened_at.filter(isRecent), at] : [];
}

function detailsOf(rule: WatchedRule, { details }: Observation, worst: number): AlertDetails {
  return { ...details, rule_name: rule.name, worst };
}

function payloadOf(rule: WatchedRule, { payload }: Moment): { metric: string; threshold: number } {
  const metric = rule.metric === 'measure' ? (rule.measure ?? rule.metric) : rule.metric;
  return payload ?? { metric, threshold: rule.threshold };
}

function newAlert(rule: WatchedRule, moment: Moment): Omit<NextAlert, 'since' | 'value' | 'details'> {
  return {
    alert_id: null,
    rule_id: rule.id,
    state: 'pending',
    runs: 1,
    ...payloadOf(rule, moment),
    operator: rule.operator,
    severity: rule.severity,
    triggered_at: null,
    announced_at: null,
    reminded_at: null,
    acknowledged_at: null,
    acknowledged_until: null,
    reopened_at: [],
    resolved_at: null,
    resolution: null,
  };
}

function update(moment: Pick<Moment, 'connectionId'>, alert: NextAlert): AlertStep {
  return step('update', moment, alert);
}

function step(
  write: AlertStep['write'],
  { connectionId }: Pick<Moment, 'connectionId'>,
  alert: NextAlert,
): AlertStep {
  return { write, connectionId, alert, logged: null, announced: null };
}
