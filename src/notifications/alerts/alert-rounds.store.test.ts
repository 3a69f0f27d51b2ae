import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { changeAccount } from '../../activity/record-entry.ts';
import { insertDestination } from '../destination-fixture.ts';
import { acknowledgeAlert } from './acknowledge-alert.ts';
import { alertRound } from './alert-rounds.ts';
import {
  alertsOf,
  evaluate,
  eventsOf,
  facts,
  type Key,
  letPass,
  ruleIn,
  unreached,
} from './alerts-fixture.ts';
import { takeDueBeats } from './heartbeat-rounds.ts';
import { unacknowledgeAlert } from './unacknowledge-alert.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

/** A connection that is checked every five minutes, in an account with a chat. */
async function scheduled(channel = 'slack'): Promise<Key> {
  const accountId = await store.account();
  await insertDestination(store.writer, accountId, { channel });
  const connectionId = await store.connection(accountId);
  await store.writer.query(
    `insert into connection_schedule (account_id, connection_id, every, due_at)
     values ($1, $2, '5 min', now() + interval '5 min')`,
    [accountId, connectionId],
  );
  return { accountId, connectionId };
}

const round = (judgesStale = true) => alertRound(store.writer, { judgesStale });
const STALE = {
  metric: 'intervals_since_check',
  operator: '>',
  threshold: 3,
  clear_threshold: null,
} as const;

describe('a connection that is not checked', () => {
  test('is stale after three intervals, once, until a run', async () => {
    const key = await scheduled();
    await ruleIn(store, key, STALE);
    await evaluate(store, key, facts());
    await letPass(store, key, '14 min 55 s');
    await round();
    expect(await alertsOf(store, key)).toEqual([]);
    await letPass(store, key, '10 s');
    await round(false);
    expect(await alertsOf(store, key)).toEqual([]);
    await Promise.all([round(), round(), round()]);
    await round();
    expect(await alertsOf(store, key)).toMatchObject([{ state: 'open' }]);
    await evaluate(store, key, facts());
    expect(await alertsOf(store, key)).toMatchObject([{ state: 'resolved' }]);
    expect(await eventsOf(store, key)).toEqual(['alert.triggered', 'alert.resolved']);
  });

  test('is said in seconds, which the payload promises', async () => {
    const key = await scheduled();
    await ruleIn(store, key, STALE);
    await evaluate(store, key, facts());
    await letPass(store, key, '20 min');
    await round();
    const { rows } = await store.writer.query('select body from event where account_id = $1', [
      key.accountId,
    ]);
    const { metric, operator, threshold, value } = JSON.parse(rows[0]?.body).data;
    expect([metric, operator, threshold]).toEqual(['seconds_since_check', '>', 900]);
    expect(value).toBeGreaterThanOrEqual(1_200);
    expect(value).toBeLessThan(1_230);
  });

  test('a rule for other connections does not see it', async () => {
    const key = await scheduled();
    const other = await store.connection(key.accountId, { name: 'other' });
    await ruleIn(store, key, { ...STALE, connection_ids: [other] });
    await letPass(store, key, '1 h');
    await round();
    expect(await alertsOf(store, key)).toEqual([]);
  });
});

test('the time without an answer is over between two runs', async () => {
  const key = await scheduled();
  await ruleIn(store, key, { metric: 'unreachable_seconds', operator: '>=', threshold: 600 });
  await evaluate(store, key, facts());
  await letPass(store, key, '5 min');
  await evaluate(store, key, unreached());
  await letPass(store, key, '4 min');
  await round();
  expect(await alertsOf(store, key)).toMatchObject([{ state: 'pending' }]);
  await letPass(store, key, '1 min');
  // The next check is late, so nobody knows.
  await store.writer.query(
    `update connection_schedule set due_at = now() - interval '2 min' where account_id = $1`,
    [key.accountId],
  );
  await round();
  expect(await alertsOf(store, key)).toMatchObject([{ state: 'pending' }]);
  await store.writer.query('update connection_schedule set due_at = now() where account_id = $1', [
    key.accountId,
  ]);
  await round();
  expect(await alertsOf(store, key)).toMatchObject([{ state: 'open', value: expect.closeTo(600, -2) }]);
});

describe('reminders', () => {
  const open = async (channel?: string) => {
    const key = await scheduled(channel);
    await ruleIn(store, key, { threshold: 50, reminder_seconds: 3_600 });
    await evaluate(store, key, facts({ score: 40 }));
    const { rows } = await store.writer.query('select alert_id from alert where account_id = $1', [
      key.accountId,
    ]);
    return { key, alertId: Number(rows[0]?.alert_id) };
  };
  const inAccount =
    ({ accountId }: Key) =>
    (work: Parameters<typeof changeAccount>[2]) =>
      changeAccount(store.writer, accountId, work) as never;

  test('come each time that the rule says, while the alert is open', async () => {
    const { key } = await open();
    for (const _ of [1, 2]) {
      await letPass(store, key, '59 min');
      await round();
      await letPass(store, key, '1 min');
      await Promise.all([round(), round()]);
    }
    const [first, ...more] = await eventsOf(store, key);
    expect([first, ...more]).toEqual([
      'alert.triggered',
      'alert.triggered (reminder)',
      'alert.triggered (reminder)',
    ]);
    await evaluate(store, key, facts());
    await letPass(store, key, '2 h');
    await round();
    expect(await eventsOf(store, key)).toHaveLength(4);
  });

  test('never go to a program', async () => {
    for (const channel of ['webhook', 'alertmanager']) {
      const { key } = await open(channel);
      await letPass(store, key, '2 h');
      await round();
      expect(await eventsOf(store, key)).toEqual(['alert.triggered']);
    }
  });

  test('stop with an acknowledgement until its time is over', async () => {
    const { key, alertId } = await open();
    await acknowledgeAlert(inAccount(key), alertId, {
      until: new Date(Date.now() + 7_200_000),
      note: 'On it.',
    });
    await letPass(store, key, '119 min');
    await round();
    expect(await eventsOf(store, key)).toHaveLength(1);
    await letPass(store, key, '2 min');
    await round();
    expect(await eventsOf(store, key)).toHaveLength(2);
    await acknowledgeAlert(inAccount(key), alertId, { until: null, note: 'Later.' });
    await letPass(store, key, '30 days');
    await round();
    expect(await eventsOf(store, key)).toHaveLength(2);
    await unacknowledgeAlert(inAccount(key), alertId);
    await round();
    expect(await eventsOf(store, key)).toHaveLength(3);
  });
});

test('what opened in maintenance is said when the window ends, without waiting for a run', async () => {
  const key = await scheduled();
  await ruleIn(store, key, { threshold: 50 });
  await store.writer.query(
    `insert into maintenance (account_id, name, starts_at, ends_at, created_by, created_at)
     values ($1, 'Upgrade', now() - interval '1 h', now() + interval '1 h', 'Ada', now())`,
    [key.accountId],
  );
  await evaluate(store, key, facts({ score: 40 }));
  await round();
  expect(await eventsOf(store, key)).toEqual([]);
  await store.writer.query('update maintenance set ends_at = now() where account_id = $1', [key.accountId]);
  await round();
  await round();
  expect(await eventsOf(store, key)).toEqual(['alert.triggered']);
});

test('more alerts than fit in a page are all said', async () => {
  const key = await scheduled();
  const ruleId = await ruleIn(store, key, { threshold: 50 });
  await store.writer.query(
    `with added as (
       insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, created_at)
       select $1, 'many ' || n, 'postgres', 'direct', 'h', 1, 'd', 'u', 'disable', now() from generate_series(1, 450) n
       returning connection_id)
     insert into alert (account_id, rule_id, connection_id, state, since, metric, operator, threshold, value, details,
                        severity, triggered_at)
     select $1, $2, connection_id, 'open', now(), 'score', '<', 50, 1,
            '{"rule_name": "Rule", "database": "", "object": null, "metric_line": "", "remediation": null, "worst": 1}',
            'critical', now()
       from added`,
    [key.accountId, ruleId],
  );
  await round();
  expect(await eventsOf(store, key)).toHaveLength(450);
});

describe('heartbeats', () => {
  test('are taken once a minute by one process, while every connection is checked on time', async () => {
    const key = await scheduled('heartbeat');
    const mine = async () =>
      (await Promise.all([1, 2, 3].map(() => takeDueBeats(store.writer, 50))))
        .flat()
        .filter(({ accountId }) => accountId === key.accountId);
    expect(await mine()).toHaveLength(1);
    expect(await mine()).toHaveLength(0);
    const passed = (interval: string) =>
      store.writer.query(
        'update destination_queue set last_attempt_at = last_attempt_at - $2::interval where account_id = $1',
        [key.accountId, interval],
      );
    await passed('1 min');
    expect(await mine()).toHaveLength(1);
    await passed('1 h');
    await letPass(store, key, '20 min 1 s');
    expect(await mine()).toHaveLength(0);
    await evaluate(store, key, facts());
    expect(await mine()).toHaveLength(1);
  });
});
