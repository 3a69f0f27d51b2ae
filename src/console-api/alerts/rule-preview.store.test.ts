import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { NewRule, RulePreview } from './alert-schemas.ts';

let store: TestStore;
let testConsole: TestConsole;
beforeAll(async () => {
  store = await startTestStore();
  testConsole = await openTestConsole(store);
});
afterAll(async () => {
  await testConsole.close();
  await store.stop();
});

const RULE: NewRule = {
  name: 'x',
  metric: 'load_active_sessions',
  check_id: null,
  measure: null,
  operator: '>=',
  threshold: 20,
  clear_threshold: null,
  for_seconds: 0,
  for_runs: 1,
  severity: 'warning',
  connections: { ids: null, names: null },
  destination_ids: null,
  reminder_seconds: null,
  is_enabled: true,
};

const insertLoad = `
  insert into session_load (account_id, connection_id, at, minutes, active, idle_in_transaction, blocked_sessions,
                            blocked_seconds, sources, sessions)
  values ($1, $2, now() - $3 * interval '1 min', 1, $4, 0, 0, 0, '{}', '{}')`;

test('a preview counts how often the values of the last 7 days would have fired a rule, of this account only', async () => {
  const ada = await testConsole.owner();
  const [busy, quiet] = [await store.connection(ada.accountId), await store.connection(ada.accountId)];
  for (const [minutes, active] of [
    [20_000, 50], // older than 7 days
    [50, 5],
    [40, 25],
    [30, 30],
    [20, 5],
    [10, 21],
  ])
    await store.writer.query(insertLoad, [ada.accountId, busy, minutes, active]);
  await store.writer.query(insertLoad, [ada.accountId, quiet, 5, 1]);
  const preview = async (owner: typeof ada, changed: Partial<NewRule> = {}) => {
    const [status, answer] = await owner.send<RulePreview>('POST', '/alert-rules/preview', {
      ...RULE,
      ...changed,
    });
    expect(status).toBe(200);
    return answer;
  };
  expect(await preview(ada)).toEqual({ times: 2, covered: 2, looked_at: 2 });
  expect(await preview(ada, { connections: { ids: [quiet], names: null } })).toEqual({
    times: 0,
    covered: 1,
    looked_at: 1,
  });
  expect(await preview(ada, { metric: 'unreachable_seconds' })).toMatchObject({ times: null });
  const stranger = await testConsole.owner();
  expect(await preview(stranger, { connections: { ids: [busy], names: null } })).toEqual({
    times: 0,
    covered: 0,
    looked_at: 0,
  });
});

test('scores and measured values count too', async () => {
  const ada = await testConsole.owner();
  const id = await store.connection(ada.accountId);
  const send = async (rule: Partial<NewRule>) =>
    (await ada.send<RulePreview>('POST', '/alert-rules/preview', { ...RULE, ...rule }))[1].times;
  await store.writer.query(
    `insert into health_check (account_id, connection_id, created_at, score, summary_text, findings)
     select $1, $2, now() - n * interval '1 h', case when n in (3, 4, 8) then 40 else 90 end, '', '[]' from generate_series(1, 10) n`,
    [ada.accountId, id],
  );
  expect(await send({ metric: 'score', operator: '<', threshold: 50 })).toBe(2);
  await store.writer.query(
    `insert into measure_series (account_id, connection_id, series_id, slot, check_id, metric, database, object, last_seen_at)
     values ($1, $2, 1, 1, 'PG_CONN_SATURATION', 'connections_used_ratio', '', null, now())`,
    [ada.accountId, id],
  );
  await store.writer.query(
    `insert into measure_run (account_id, connection_id, measured_at, values)
     select $1, $2, now() - n * interval '10 min', array[case when n in (2, 6) then 0.95 else 0.4 end]::real[] from generate_series(1, 10) n`,
    [ada.accountId, id],
  );
  const measure = {
    metric: 'measure',
    check_id: 'PG_CONN_SATURATION',
    measure: 'connections_used_ratio',
  } as const;
  expect(await send({ ...measure, threshold: 0.9 })).toBe(2);
});
