import type pg from 'pg';
import type { Logger } from 'pino';
import { eachAccount } from '../../activity/each-account.ts';
import { type Change, changeAccount } from '../../activity/record-entry.ts';
import { type Rounds, startRounds } from '../../platform/rounds.ts';
import { cleanText } from '../../platform/text/clean-text.ts';
import { within } from '../../store/read.ts';
import { errorFields } from '../../store/store-failure.ts';
import { includesConnection } from '../connection-scope.ts';
import { listMaintenance } from '../maintenance/list-maintenance.ts';
import { audienceOf, queueEvents } from '../outbox/queue-events.ts';
import { accountsWithDueAlerts, type DueAlert, dueAlertsOf, PAGE } from './due-alerts.ts';
import { type AlertStep, advanceAlert, type Moment } from './evaluation/advance-alert.ts';
import { secondsBetween } from './evaluation/observe-run.ts';
import { storeAlerts } from './store-alerts.ts';

/** What a round over the alerts needs. */
export interface AlertRound {
  /** A pool of the writer's role. */
  writer: pg.Pool;
  log: Pick<Logger, 'error' | 'isLevelEnabled'>;
  /** Called when a round failed. */
  failed?: (work: 'alerts') => void;
}

const FIRST_MS = 20_000;
const EVERY_MS = 60_000;

/** After a start, an outage of the store or a sleep, checks get so long to catch up before they count as missing. */
const CATCH_UP_MS = 180_000;

/**
 * Looks at the alerts once a minute, for what no run says: connections that were not checked, servers that were not reached
 * for long enough, reminders, and alerts that were held back in maintenance. Any number of processes may do so.
 */
export function startAlertRounds(
  options: AlertRound,
  times = { first: FIRST_MS, every: EVERY_MS, catchUp: CATCH_UP_MS },
): Rounds {
  let steadySince = performance.now();
  let previous = steadySince;
  return startRounds(async (signal) => {
    const now = performance.now();
    // Time stood still for this process: it slept, or was stopped.
    if (now - previous > times.first + 3 * times.every) steadySince = now;
    previous = now;
    try {
      await alertRound(options.writer, { judgesStale: now - steadySince >= times.catchUp }, signal);
    } catch (error) {
      steadySince = performance.now();
      options.log.error(
        errorFields(error, options.log),
        'alerts could not be looked at; the next round tries again',
      );
      options.failed?.('alerts');
    }
  }, times);
}

/**
 * One round over all accounts. An account takes one short transaction for each page, and none if nothing is due. One
 * account's failure does not keep the others waiting: it is thrown after them.
 */
export async function alertRound(
  writer: pg.Pool,
  { judgesStale }: { judgesStale: boolean },
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  await eachAccount(await accountsWithDueAlerts(writer, judgesStale), async (accountId) => {
    let after: DueAlert | null = null;
    do {
      if (signal.aborted) return;
      const page: DueAlert | null = after;
      after = await changeAccount(writer, accountId, (change) => roundOfAccount(change, judgesStale, page));
    } while (after !== null);
  });
}

/** Handles a page of an account's due alerts. Returns its last one; null if it was the last page. */
async function roundOfAccount(
  change: Change,
  judgesStale: boolean,
  after: DueAlert | null,
): Promise<DueAlert | null> {
  const { accountId, client, at, record } = change;
  const scope = { accountId, at };
  const due = await dueAlertsOf(client, scope, { judgesStale, after });
  if (due.length === 0) return null;
  const audience = await audienceOf(client, scope);
  const windows = (await listMaintenance(within(client), accountId, audience.at))
    .filter(({ state }) => state === 'active')
    .map(({ connections: { ids, names } }) => ({ connection_ids: ids, connection_names: names }));
  const steps = due
    .filter(({ rule, connection }) => includesConnection(rule, connection))
    .map((one) => {
      const { connection, rule, is_unreachable } = one;
      const isMuted = is_unreachable && rule.metric !== 'unreachable_seconds';
      const inMaintenance = windows.some((window) => includesConnection(window, connection));
      const mayAnnounce = audience.destinations.length > 0 && !isMuted && !inMaintenance;
      return stepOf(one, { connectionId: connection.id, at, mayAnnounce });
    })
    .filter((step) => step !== null);
  const context = {
    accountId,
    rule: (id: number) => due.find(({ rule }) => rule.id === id)?.rule,
    connection: (id: number) => due.find(({ connection }) => connection.id === id)?.connection,
  };
  const { events, entries } = await storeAlerts(client, context, steps);
  for (const entry of entries) record(entry.actionType, entry.pagePath, entry.properties);
  await queueEvents(client, scope, events, audience);
  return due.length < PAGE ? null : (due.at(-1) ?? null);
}

function stepOf(due: DueAlert, moment: Moment): AlertStep | null {
  switch (due.due) {
    case 'said':
      return sayAgain(due, moment);
    case 'unreachable':
      return openUnreachable(due, moment);
    case 'stale':
      return openStale(due, moment);
  }
}

/** Announces an alert that was held back, or reminds of one. */
function sayAgain({ alert }: DueAlert, { connectionId, at, mayAnnounce }: Moment): AlertStep | null {
  if (!alert || !mayAnnounce) return null;
  const common = { write: 'update', connectionId, logged: null, announced: 'alert.triggered' } as const;
  if (alert.announced_at === null) return { ...common, alert: { ...alert, announced_at: at } };
  return { ...common, alert: { ...alert, reminded_at: at }, isReminder: true };
}

function openUnreachable({ rule, alert, recent }: DueAlert, moment: Moment): AlertStep | null {
  if (!alert) return null;
  const { rule_name: _, worst: __, ...details } = alert.details;
  const value = secondsBetween(alert.since, moment.at);
  const alerts = { standing: alert, recent: recent ?? undefined };
  return advanceAlert(rule, alerts, { value, unsilenced: value, details, begins: true }, moment);
}

/** The payload has seconds, because intervals mean nothing to a receiver. */
function openStale(
  { rule, recent, every_seconds, checked_at, collector }: DueAlert,
  moment: Moment,
): AlertStep | null {
  if (every_seconds === null) return null;
  const value = secondsBetween(checked_at, moment.at);
  const threshold = rule.threshold * every_seconds;
  const metric_line = `The last check is ${inWords(value)} old. A check is due every ${inWords(every_seconds)}.`;
  const details = {
    check_id: null,
    database: '',
    object: null,
    remediation: remediationOf(collector),
    metric_line,
  };
  const observation = { value, unsilenced: value, details, since: checked_at };
  const payload = { metric: 'seconds_since_check', threshold };
  return advanceAlert({ ...rule, threshold }, { recent: recent ?? undefined }, observation, {
    ...moment,
    payload,
  });
}

function remediationOf(collector: string | null): string {
  if (collector === null) return REMEDIATION;
  return `Find out whether collector ${cleanText(collector, 200)} runs: "collector list" says when it was heard of last, and its log says why.`;
}

const REMEDIATION =
  'Find out whether a monitor runs and has time for this connection: "doctor" says so, and so does the log of the service.';

function inWords(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}
