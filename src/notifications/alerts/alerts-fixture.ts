import type { TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { everyCheck } from '../../checks/catalogue.ts';
import type { Finding, Outcome } from '../../checks/check.ts';
import type { SeriesValue } from '../../checks/measure.ts';
import { recordCheck } from '../../runs/record-check.ts';
import { insertDestination } from '../destination-fixture.ts';
import { queueEvents } from '../outbox/queue-events.ts';
import { readRunWatch } from '../run-events/run-watch.ts';
import { addRule } from './add-rule.ts';
import type { RuleSettings } from './alert-rule.ts';
import { evaluateRules } from './evaluate-rules.ts';
import type { PulseFigures, RunFacts } from './evaluation/run-facts.ts';

/** The account and the id of a connection. */
export interface Key {
  accountId: number;
  connectionId: number;
}

/** A fault of a check. */
export function fault(check_id: string, given: Partial<Finding> = {}): Finding {
  const severity = given.severity ?? 'critical';
  return {
    check_id,
    category: 'availability',
    status: severity,
    severity,
    title: `Fault of ${check_id}`,
    metric_line: `${check_id} is bad.`,
    remediation: `mend ${check_id};`,
    database: '',
    object: null,
    ...given,
  };
}

/** What a check found out: its faults, or that all is well; unmeasured with `measured: false`. */
export function outcome(id: string, findings: Finding[] = [], given: Partial<Outcome> = {}): Outcome {
  const check = everyCheck.find((one) => one.id === id);
  if (!check) throw new Error(`no check ${id}`);
  const { category, title, volatile, maxSeverity } = check;
  const status = given.measured === false ? 'error' : 'ok';
  const quiet = fault(id, { status, severity: maxSeverity });
  return {
    check: { id, category, title, volatile, maxSeverity },
    findings: findings.length > 0 ? findings : [quiet],
    measured: true,
    unmeasured: [],
    near: [],
    ...given,
  };
}

export const REACHED = [outcome('CONN_UNREACHABLE'), outcome('CONN_AUTH_FAILED')];
export const UNREACHED = [outcome('CONN_UNREACHABLE', [fault('CONN_UNREACHABLE')])];

/** The facts of a run that reached the server; all is well unless given. */
export function facts(given: Partial<RunFacts> = {}): RunFacts {
  const outcomes = given.outcomes ?? REACHED;
  const points = given.score ?? 100;
  return {
    score: points,
    unsilencedScore: points,
    outcomes,
    measured: outcomes,
    measures: [],
    leftOut: new Set(),
    ...given,
  };
}

/** A run that did not reach the server. */
export const unreached = () => facts({ score: 0, outcomes: UNREACHED });

/** A measured value. */
export function measured(
  checkId: string,
  metric: string,
  value: number,
  object: string | null = null,
): SeriesValue {
  return { checkId, metric, value, object, database: '', operator: '>=', warning: null, critical: null };
}

/** A rule with the settings that a test does not care about. */
export function rule(given: Partial<RuleSettings>): RuleSettings {
  return {
    name: 'Rule',
    metric: 'score',
    check_id: null,
    measure: null,
    operator: '<',
    threshold: 50,
    clear_threshold: null,
    for_seconds: 0,
    for_runs: 1,
    severity: 'critical',
    connection_ids: null,
    connection_names: null,
    destination_ids: null,
    reminder_seconds: 43_200,
    is_enabled: true,
    ...given,
  };
}

/** Adds a rule and returns its id. */
export async function ruleIn(
  store: TestStore,
  { accountId }: Key,
  given: Partial<RuleSettings>,
): Promise<number> {
  const added = await addRule((work) => changeAccount(store.writer, accountId, work), rule(given));
  return added.id;
}

/** Stores a run and evaluates the rules, as the monitor does. */
export async function evaluate(
  store: TestStore,
  { accountId, connectionId }: Key,
  found: RunFacts,
  figures: PulseFigures | null = null,
): Promise<void> {
  await changeAccount(store.writer, accountId, async ({ client, at, record }) => {
    const scope = { accountId, connectionId, at };
    const watch = await readRunWatch(client, scope, figures);
    await recordCheck(client, {
      ...scope,
      score: found.score,
      summaryText: '',
      findings: [],
      inMaintenance: watch.isInMaintenance,
      cost: { milliseconds: 0, statements: 0, bytes: 0 },
    });
    const canAnnounce = watch.destinations.length > 0;
    const { events, entries } = await evaluateRules(client, scope, found, { ...watch, canAnnounce });
    for (const entry of entries) record(entry.actionType, entry.pagePath, entry.properties);
    await queueEvents(client, scope, events, watch);
  });
}

const COLUMNS = {
  alert: ['since', 'triggered_at', 'announced_at', 'reminded_at', 'resolved_at', 'acknowledged_at'],
  health_check: ['created_at'],
  connection: ['created_at'],
  connection_schedule: ['due_at'],
};

/** Lets time pass: everything that happened in an account is so much older. */
export async function letPass(store: TestStore, { accountId }: Key, interval: string): Promise<void> {
  // The writer may not change stored runs.
  const superuser = await store.superuser('store');
  for (const [table, columns] of Object.entries(COLUMNS)) {
    const older = columns.map((column) => `${column} = ${column} - $2::interval`).join(', ');
    await superuser.query(`update ${table} set ${older} where account_id = $1`, [accountId, interval]);
  }
  await superuser.query(
    `update alert set acknowledged_until = acknowledged_until - $2::interval,
                      reopened_at = array(select t - $2::interval from unnest(reopened_at) t)
      where account_id = $1`,
    [accountId, interval],
  );
  await superuser.end();
}

/** An alert as tests compare it. */
export interface SeenAlert {
  state: string;
  rule_id: number;
  connection_id: number;
  value: number;
  resolution: string | null;
  details: { object: string | null; worst: number };
  is_announced: boolean;
}

/** The alerts of an account, the oldest first. */
export async function alertsOf(
  store: TestStore,
  { accountId }: Pick<Key, 'accountId'>,
): Promise<SeenAlert[]> {
  const text = `
    select state, rule_id, connection_id, value, resolution, details, announced_at is not null as is_announced
      from alert where account_id = $1 order by alert_id`;
  return (await store.writer.query<SeenAlert>(text, [accountId])).rows;
}

/** The queued events of alerts: kind, with `(reminder)` for those. */
export async function eventsOf(store: TestStore, { accountId }: Pick<Key, 'accountId'>): Promise<string[]> {
  const text = `
    select e.kind || case when e.details ? 'is_reminder' then ' (reminder)' else '' end as event
      from delivery d join event e using (account_id, event_id)
     where account_id = $1 and e.kind like 'alert.%' order by d.delivery_id`;
  return (await store.writer.query<{ event: string }>(text, [accountId])).rows.map(({ event }) => event);
}

/** A connection in an account of its own with a webhook. */
export async function watchedIn(store: TestStore): Promise<Key> {
  const accountId = await store.account();
  await insertDestination(store.writer, accountId);
  return { accountId, connectionId: await store.connection(accountId) };
}

/** The states of the connection's alerts. */
export async function statesOf(store: TestStore, key: Key) {
  return (await alertsOf(store, key)).map(({ state }) => state);
}
