import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../../test/support/store.ts';
import { insertDestination } from '../../destination-fixture.ts';
import { alertRound } from '../alert-rounds.ts';
import { evaluate, facts, ruleIn, unreached } from '../alerts-fixture.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

const MONITORS = 10;
const CONNECTIONS = 100;
const RUNS = 25;

/** The same numbers in each run of the test, so that a failure can be repeated. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

test('ten monitors, a hundred flapping connections and the rounds: one open alert per rule and connection', async () => {
  const accountId = await store.account();
  await insertDestination(store.writer, accountId);
  const connections: number[] = [];
  for (let n = 0; n < CONNECTIONS; n++) {
    connections.push(await store.connection(accountId, { name: `flapping ${n}` }));
  }
  const key = { accountId, connectionId: 0 };
  await ruleIn(store, key, { name: 'Score', threshold: 50, reminder_seconds: 300 });
  await ruleIn(store, key, {
    name: 'Unreachable',
    metric: 'unreachable_seconds',
    operator: '>',
    threshold: 1,
  });
  let isOver = false;
  const monitors = Array.from({ length: MONITORS }, async (_, monitor) => {
    const random = randomOf(monitor + 1);
    for (let run = 0; run < RUNS; run++) {
      const connectionId = connections[Math.floor(random() * 20) * 5 + (run % 5)] ?? 0;
      const found = random() < 0.3 ? unreached() : facts({ score: random() < 0.5 ? 20 : 90 });
      await evaluate(store, { accountId, connectionId }, found);
    }
  });
  const rounds = Array.from({ length: 3 }, async () => {
    while (!isOver) await alertRound(store.writer, { judgesStale: true });
  });
  const watching = (async () => {
    while (!isOver) expect(await doubles(accountId)).toEqual([]);
  })();
  await Promise.all(monitors).finally(() => {
    isOver = true;
  });
  await Promise.all([...rounds, watching]);

  // Of each alert, at most one message says that it opened, and at most one that it ended, in this order.
  const { rows } = await store.writer.query<{ alert_id: number; kinds: string[] }>(
    `select e.alert_id, array_agg(e.kind order by d.sequence) as kinds
       from event e join delivery d using (account_id, event_id)
      where account_id = $1 group by e.alert_id`,
    [accountId],
  );
  expect(rows.length).toBeGreaterThan(20);
  for (const { kinds } of rows) {
    expect([['alert.triggered'], ['alert.triggered', 'alert.resolved']]).toContainEqual(kinds);
  }
  // Alerts of the same rule and connection never overlap.
  const overlapping = await store.writer.query(
    `select from alert a join alert b using (account_id, connection_id, rule_id)
      where account_id = $1 and a.alert_id < b.alert_id
        and a.triggered_at < coalesce(b.resolved_at, 'infinity') and b.triggered_at < coalesce(a.resolved_at, 'infinity')`,
    [accountId],
  );
  expect(overlapping.rowCount).toBe(0);
});

/** Rules and connections with two standing alerts. The unique index forbids them; the evaluation must never try. */
async function doubles(accountId: number): Promise<unknown[]> {
  const text = `
    select rule_id, connection_id from alert where account_id = $1 and state <> 'resolved'
     group by rule_id, connection_id having count(*) > 1`;
  return (await store.writer.query(text, [accountId])).rows;
}
