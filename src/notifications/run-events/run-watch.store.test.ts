import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { runHealthCheck } from '../../monitor/run.ts';
import { inTransaction } from '../../store/connect.ts';
import { addPresetRules } from '../alerts/preset-rules.ts';
import { insertDestination } from '../destination-fixture.ts';

let store: TestStore;
let statements: string[] = [];

beforeAll(async () => {
  store = await startTestStore();
  store.writer.on('connect', (client: pg.PoolClient) => {
    const query = client.query.bind(client) as (...of: unknown[]) => unknown;
    client.query = ((...of: unknown[]) => {
      const [statement] = of as [string | { text: string }];
      statements.push(typeof statement === 'string' ? statement : statement.text);
      return query(...of);
    }) as typeof client.query;
  });
});
afterAll(() => store.stop());

const OWN = /\b(?:alert|alert_rule|destination|destination_queue|event|delivery|maintenance)\b/;

/** The statements of a run that notifications cost. */
async function costOf(key: { accountId: number; connectionId: number }): Promise<string[]> {
  statements = [];
  await runHealthCheck(store.deps, key);
  return statements.filter((statement) => OWN.test(statement));
}

test('an unchanged run pays one statement for rules, one more for a destination that wants it, and no row', async () => {
  const key = await store.watched();
  const { accountId } = key;
  await inTransaction(store.writer, (client) => addPresetRules(client, accountId, new Date().toISOString()));
  await runHealthCheck(store.deps, key);
  expect(await costOf(key)).toEqual([expect.stringMatching(/^\s*select/)]);
  const rows = `select (select count(*)::int from event where account_id = $1) as events,
                       (select count(*)::int from delivery where account_id = $1) as deliveries,
                       (select count(*)::int from alert where account_id = $1) as alerts`;
  expect((await store.writer.query(rows, [accountId])).rows).toEqual([
    { events: 0, deliveries: 0, alerts: 0 },
  ]);

  await insertDestination(store.writer, accountId);
  expect(await costOf(key)).toHaveLength(1);
  await insertDestination(store.writer, accountId, { kinds: ['health_check.completed'] });
  expect(await costOf(key)).toHaveLength(2);
  expect((await store.writer.query(rows, [accountId])).rows).toEqual([
    { events: 1, deliveries: 1, alerts: 0 },
  ]);
});
