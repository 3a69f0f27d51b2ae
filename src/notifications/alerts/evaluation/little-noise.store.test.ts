import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../../test/support/store.ts';
import { changeAccount } from '../../../activity/record-entry.ts';
import { EVENT_EXAMPLES } from '../../../api/openapi/event-examples.ts';
import { insertDestination } from '../../destination-fixture.ts';
import { acknowledgeAlert } from '../acknowledge-alert.ts';
import {
  alertsOf,
  evaluate,
  eventsOf,
  facts,
  fault,
  type Key,
  letPass,
  outcome,
  REACHED,
  ruleIn,
  statesOf,
  unreached,
  watchedIn,
} from '../alerts-fixture.ts';
import { changeRule } from '../change-rule.ts';
import { removeRule } from '../remove-rule.ts';
import { endAlertsOfRemoved, endSilencedAlerts } from '../resolve-alerts-of.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

const watched = () => watchedIn(store);
const states = (key: Key) => statesOf(store, key);
const change = (key: Key) => (work: Parameters<typeof changeAccount>[2]) =>
  changeAccount(store.writer, key.accountId, work) as never;

describe('the payload', () => {
  test('is the frozen one', async () => {
    const key = await watched();
    await ruleIn(store, key, { threshold: 50 });
    await evaluate(store, key, facts({ score: 41 }));
    await evaluate(store, key, facts());
    const { rows } = await store.writer.query<{ kind: string; body: string }>(
      'select kind, body from event where account_id = $1 order by occurred_at',
      [key.accountId],
    );
    for (const { kind, body } of rows) {
      const [seen, example] = [JSON.parse(body).data, Object(EVENT_EXAMPLES[kind]?.data)];
      expect(Object.keys(seen)).toEqual(Object.keys(example));
      expect(Object.keys(seen.connection)).toEqual(Object.keys(example.connection));
      expect(seen).toMatchObject({ metric: 'score', operator: '<', threshold: 50, value: 41 });
      expect(seen.triggered_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }
    expect(rows.map(({ kind }) => kind)).toEqual(['alert.triggered', 'alert.resolved']);
  });

  test('the log says what happened, once per change', async () => {
    const key = await watched();
    await ruleIn(store, key, { threshold: 50 });
    for (const score of [41, 40, 41, 100, 100]) await evaluate(store, key, facts({ score }));
    const { rows } = await store.writer.query<{ action_type: string }>(
      `select action_type from activity where account_id = $1 and action_type like 'alert%' order by id`,
      [key.accountId],
    );
    expect(rows.map(({ action_type }) => action_type)).toEqual([
      'alert_rule_added',
      'alert_triggered',
      'alert_resolved',
    ]);
  });
});

describe('little noise', () => {
  test('while a server is not reached, other alerts are silent, and said afterwards only if they still hold', async () => {
    const key = await watched();
    await ruleIn(store, key, { metric: 'unreachable_seconds', operator: '>=', threshold: 600 });
    await ruleIn(store, key, { name: 'Score', threshold: 50 });
    await ruleIn(store, key, { name: 'Score 2', threshold: 90 });
    await evaluate(store, key, facts());
    await letPass(store, key, '10 min');
    await evaluate(store, key, unreached());
    expect(await eventsOf(store, key)).toEqual(['alert.triggered']);
    expect(await states(key)).toEqual(['open', 'open', 'open']);
    await evaluate(store, key, facts({ score: 80 }));
    expect(await states(key)).toEqual(['resolved', 'resolved', 'open']);
    // Of the two that were muted, the one that ended was never said, and the other is said now.
    expect(await eventsOf(store, key)).toEqual(['alert.triggered', 'alert.resolved', 'alert.triggered']);
  });

  test('a flapping alert is held open for 24 h after its third reopening', async () => {
    const key = await watched();
    await ruleIn(store, key, { threshold: 50 });
    for (let n = 0; n < 4; n++) {
      await evaluate(store, key, facts({ score: 40 }));
      await evaluate(store, key, facts());
      await letPass(store, key, '1 h');
    }
    expect(await states(key)).toEqual(['resolved', 'resolved', 'resolved', 'open']);
    for (let n = 0; n < 5; n++) await evaluate(store, key, facts({ score: n % 2 === 0 ? 40 : 100 }));
    expect(await eventsOf(store, key)).toHaveLength(7);
    await letPass(store, key, '23 h');
    await evaluate(store, key, facts());
    expect(await states(key)).toEqual(['resolved', 'resolved', 'resolved', 'resolved']);
  });

  test('in a maintenance window an alert opens silently, and is said afterwards', async () => {
    const key = await watched();
    await ruleIn(store, key, { threshold: 50 });
    await store.writer.query(
      `insert into maintenance (account_id, name, starts_at, ends_at, created_by, created_at)
       values ($1, 'Upgrade', now() - interval '1 h', now() + interval '1 h', 'Ada', now())`,
      [key.accountId],
    );
    await evaluate(store, key, facts({ score: 40 }));
    expect([await states(key), await eventsOf(store, key)]).toEqual([['open'], []]);
    await store.writer.query('update maintenance set ends_at = now() where account_id = $1', [key.accountId]);
    await evaluate(store, key, facts({ score: 40 }));
    expect(await eventsOf(store, key)).toEqual(['alert.triggered']);
  });

  test('an alert that nobody could be told of is announced once there is a destination', async () => {
    const accountId = await store.account();
    const key = { accountId, connectionId: await store.connection(accountId) };
    await ruleIn(store, key, { threshold: 50 });
    await evaluate(store, key, facts({ score: 40 }));
    expect(await alertsOf(store, key)).toMatchObject([{ state: 'open', is_announced: false }]);
    await insertDestination(store.writer, accountId);
    await evaluate(store, key, facts({ score: 40 }));
    expect(await eventsOf(store, key)).toEqual(['alert.triggered']);
  });
});

describe('an alert that is not mended says so', () => {
  const open = async () => {
    const key = await watched();
    const id = 'PG_CONN_SATURATION';
    const ruleId = await ruleIn(store, key, {
      metric: 'findings_critical',
      operator: '>=',
      threshold: 1,
      check_id: id,
    });
    const outcomes = [...REACHED, outcome(id, [fault(id)])];
    await evaluate(store, key, facts({ outcomes }));
    return { key, ruleId, id, outcomes };
  };
  const resolution = async (key: Key) => (await alertsOf(store, key))[0]?.resolution;

  test('removed rule', async () => {
    const { key, ruleId } = await open();
    await removeRule(change(key), ruleId);
    expect(await resolution(key)).toBe('the rule was removed');
    expect(await eventsOf(store, key)).toEqual(['alert.triggered', 'alert.resolved']);
  });

  test('disabled rule, and one for other connections', async () => {
    const [one, two] = [await open(), await open()];
    await changeRule(change(one.key), one.ruleId, { is_enabled: false });
    expect(await resolution(one.key)).toBe('the rule was disabled');
    const other = await store.connection(two.key.accountId, { name: 'other' });
    await changeRule(change(two.key), two.ruleId, { connection_ids: [other] });
    expect(await resolution(two.key)).toBe('the rule no longer covers this connection');
  });

  test('removed connection', async () => {
    const { key } = await open();
    await changeAccount(store.writer, key.accountId, (within) =>
      endAlertsOfRemoved(within, key.connectionId),
    );
    expect(await resolution(key)).toBe('the connection was removed');
  });

  test('silenced check, at once and in the next run', async () => {
    const [one, two] = [await open(), await open()];
    const silence = { check_id: one.id, object: null };
    await changeAccount(store.writer, one.key.accountId, (within) =>
      endSilencedAlerts(within, one.key.connectionId, silence),
    );
    expect(await resolution(one.key)).toBe('a member silenced its finding');
    const silenced = outcome(two.id, [fault(two.id, { status: 'skipped' })]);
    await evaluate(store, two.key, facts({ outcomes: [...REACHED, silenced], measured: two.outcomes }));
    expect(await resolution(two.key)).toBe('a member silenced its finding');
  });

  test('renamed connection', async () => {
    const key = await watched();
    await ruleIn(store, key, { connection_names: ['te*'] });
    await evaluate(store, key, facts({ score: 1 }));
    await store.writer.query(`update connection set name = 'b' where account_id = $1`, [key.accountId]);
    await evaluate(store, key, facts({ score: 1 }));
    expect(await resolution(key)).toBe('the rule no longer covers this connection');
  });
});

test('an unchanged run writes nothing', async () => {
  const key = await watched();
  await ruleIn(store, key, { threshold: 50 });
  await evaluate(store, key, facts({ score: 40 }));
  const version = async () =>
    (await store.writer.query('select xmin::text from alert where account_id = $1', [key.accountId])).rows;
  const before = await version();
  await evaluate(store, key, facts({ score: 40 }));
  expect(await version()).toEqual(before);
});

test('an acknowledged alert is still resolved and said to be', async () => {
  const key = await watched();
  await ruleIn(store, key, { threshold: 50 });
  await evaluate(store, key, facts({ score: 40 }));
  const { rows } = await store.writer.query<{ alert_id: number }>(
    'select alert_id from alert where account_id = $1',
    [key.accountId],
  );
  await acknowledgeAlert(change(key), rows[0]?.alert_id ?? 0, { until: null, note: 'On it.' });
  await evaluate(store, key, facts());
  expect(await eventsOf(store, key)).toEqual(['alert.triggered', 'alert.resolved']);
});
