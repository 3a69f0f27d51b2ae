import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { documentedMetrics } from '../../../test/support/expect-measures.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { addAccount } from '../../accounts/add-account.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { CHECK_METRICS } from '../../checks/check-metrics.ts';
import { within } from '../../store/read.ts';
import { addRule, MOST_RULES } from './add-rule.ts';
import { rule } from './alerts-fixture.ts';
import { changeRule } from './change-rule.ts';
import { listResolvedAlerts } from './list-alerts.ts';
import { conditionText, parseCondition } from './rule-condition.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

test('the metrics of checks are those that their pages document', () => {
  const pages = readdirSync(new URL('../../../docs/checks', import.meta.url)).map((file) =>
    file.replace('.md', ''),
  );
  const documented = pages
    .map((id) => [id, documentedMetrics(id)] as const)
    .filter(([, all]) => all.length > 0);
  expect(CHECK_METRICS).toEqual(Object.fromEntries(documented));
});

test('accounts get the same presets from the migration and when they are added', async () => {
  const migration = await presetInsert();
  const accountId = await store.account();
  await store.writer.query(
    migration.replace(
      'from account,',
      `from (select * from account where account_id = ${accountId}) account,`,
    ),
  );
  const made = await addAccount(store.writer, {
    name: 'New',
    kind: 'company',
    plan: 'business',
    requests_per_minute: null,
  });
  const columns = `name, preset, metric, check_id, measure, operator, threshold, clear_threshold, for_seconds, for_runs, severity,
    connection_ids, connection_names, destination_ids, reminder_seconds, is_enabled`;
  const rulesOf = async (id: number) =>
    (
      await store.writer.query(`select ${columns} from alert_rule where account_id = $1 order by rule_id`, [
        id,
      ])
    ).rows;
  expect(await rulesOf(made.id)).toEqual(await rulesOf(accountId));
  expect(await rulesOf(made.id)).toHaveLength(3);
});

/** The statement of migration 0017 that gives rules to existing accounts. */
async function presetInsert(): Promise<string> {
  const { readFileSync } = await import('node:fs');
  const text = readFileSync(new URL('../../../migrations/0017_notifications.sql', import.meta.url), 'utf8');
  return text.slice(text.indexOf('insert into alert_rule'));
}

test('a condition is written as it is read', () => {
  for (const text of [
    'score < 50',
    'unreachable_seconds >= 600',
    'intervals_since_check > 3',
    'findings_critical >= 1',
    'findings_warning PG_DEAD_TUPLES >= 2',
    'PG_CONN_SATURATION.connections_used_ratio >= 0.9',
    'vital.connections_count > 500',
    'days_left < 7',
    'days_left PG_SEQUENCE_EXHAUSTION.sequence_used_ratio < 7',
  ]) {
    expect(conditionText(parseCondition(text))).toBe(text);
  }
  expect(parseCondition('unreachable_seconds>=10m')).toMatchObject({ threshold: 600 });
});

test('hostile conditions are rejected in no time', () => {
  for (const text of [
    'a'.repeat(1e6),
    `${'a '.repeat(140)}<`,
    'score < 1e999',
    'score < NaN',
    '\u202escore < 5',
  ]) {
    const began = performance.now();
    expect(() => parseCondition(text)).toThrow(expect.objectContaining({ code: 'invalid_parameter' }));
    expect(performance.now() - began).toBeLessThan(20_000);
  }
});

test('an account has at most so many rules, and none of another account can be changed', async () => {
  const [mine, other] = [await store.account(), await store.account()];
  const add = (id: number) => addRule((work) => changeAccount(store.writer, id, work), rule({}));
  const foreign = await add(other);
  for (let n = 0; n < MOST_RULES; n++) await add(mine);
  await expect(add(mine)).rejects.toThrow(`at most ${MOST_RULES} alert rules`);
  const change = changeRule((work) => changeAccount(store.writer, mine, work), foreign.id, { threshold: 1 });
  await expect(change).rejects.toThrow(`There is no alert rule ${foreign.id}`);
});

test('resolved alerts are listed in pages, also where many ended at once', async () => {
  const accountId = await store.account();
  const connectionId = await store.connection(accountId);
  const { id } = await addRule((work) => changeAccount(store.writer, accountId, work), rule({}));
  await store.writer.query(
    `insert into alert (account_id, rule_id, connection_id, state, since, metric, operator, threshold, value, details,
                        severity, triggered_at, resolved_at, resolution)
     select $1, $2, $3, 'resolved', now(), 'score', '<', 50, n, '{}', 'critical', now(), now() - (n / 4) * interval '1 s', ''
       from generate_series(1, 23) n`,
    [accountId, id, connectionId],
  );
  const seen: number[] = [];
  for (let before: number | null = null; ; ) {
    const client = await store.writer.connect();
    const page: { items: { value: number; id: number }[]; next: number | null } = await listResolvedAlerts(
      within(client),
      accountId,
      { before, limit: 5 },
    );
    client.release();
    seen.push(...page.items.map((one) => one.id));
    if (page.next === null) break;
    before = page.next;
  }
  expect(seen).toHaveLength(23);
  expect(new Set(seen).size).toBe(23);
});
