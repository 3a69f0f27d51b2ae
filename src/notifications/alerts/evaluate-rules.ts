import type pg from 'pg';
import { includesConnection } from '../connection-scope.ts';
import type { NewEvent } from '../event.ts';
import { RESOLUTIONS, type StandingAlert } from './alert-row.ts';
import type { WatchedRule } from './alert-rule.ts';
import { type AlertStep, advanceAlert, resolveAlert } from './evaluation/advance-alert.ts';
import { isReached, observeRun } from './evaluation/observe-run.ts';
import type { AlertSurroundings, AlertWatch, RunFacts, RunScope } from './evaluation/run-facts.ts';
import { type AlertEntry, storeAlerts } from './store-alerts.ts';

/**
 * Evaluates the account's rules for a run, in its transaction and under the account's log lock. It writes only alerts that
 * change, in one statement, and returns the events to queue and the entries to record.
 */
export async function evaluateRules(
  client: pg.ClientBase,
  scope: RunScope,
  facts: RunFacts,
  watch: AlertWatch & AlertSurroundings,
): Promise<{ events: NewEvent[]; entries: AlertEntry[] }> {
  const rules = new Map(watch.rules.map((rule) => [rule.id, rule]));
  const context = {
    accountId: scope.accountId,
    rule: (id: number) => rules.get(id),
    connection: () => watch.connection,
  };
  return storeAlerts(client, context, stepsOfRun(scope, facts, watch));
}

/** How a run changes the alerts of its connection. */
export function stepsOfRun(
  { connectionId, at }: Pick<RunScope, 'connectionId' | 'at'>,
  facts: RunFacts,
  watch: AlertWatch & AlertSurroundings,
): AlertStep[] {
  const covered = watch.rules.filter((rule) => includesConnection(rule, watch.connection));
  const isMuted = muting(covered, facts);
  const steps = covered.map((rule) => {
    const alerts = watch.alerts.filter(({ rule_id }) => rule_id === rule.id);
    const standing = alerts.find(({ state }) => state !== 'resolved');
    const recent = alerts.find(({ state }) => state === 'resolved');
    const observation = observeRun({ rule, facts, watch, alert: standing, at });
    if (!observation) return null;
    const mayAnnounce = watch.canAnnounce && !watch.isInMaintenance && !isMuted(rule);
    return advanceAlert(rule, { standing, recent }, observation, { connectionId, at, mayAnnounce });
  });
  const left = watch.alerts.filter(
    ({ rule_id, state }) => state !== 'resolved' && !covered.some(({ id }) => id === rule_id),
  );
  return [
    ...steps.filter((step) => step !== null),
    ...left.map((alert) => endAlert(alert, RESOLUTIONS.notCovered, { connectionId, at })),
  ];
}

/** Ends an alert whatever is measured: a pending one was never said, so it is forgotten. */
export function endAlert(
  alert: StandingAlert,
  resolution: string,
  moment: { connectionId: number; at: string },
): AlertStep {
  if (alert.state === 'open') return resolveAlert(alert, resolution, moment);
  return { write: 'delete', connectionId: moment.connectionId, alert, logged: null, announced: null };
}

/** While a server is not reached, the rule for that speaks for it, and the others are silent. */
function muting(covered: readonly WatchedRule[], { outcomes }: RunFacts): (rule: WatchedRule) => boolean {
  const isUnreachable = !isReached(outcomes);
  const speaks = covered.some(({ metric }) => metric === 'unreachable_seconds');
  return ({ metric }) => isUnreachable && speaks && metric !== 'unreachable_seconds';
}
