import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../../test/support/store.ts';
import {
  alertsOf,
  evaluate,
  eventsOf,
  facts,
  fault,
  type Key,
  letPass,
  measured,
  outcome,
  REACHED,
  ruleIn,
  statesOf,
  unreached,
  watchedIn,
} from '../alerts-fixture.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

const watched = () => watchedIn(store);
const states = (key: Key) => statesOf(store, key);
describe('conditions', () => {
  test('a score below the threshold in two runs opens one alert, and the clearing value closes it', async () => {
    const key = await watched();
    await ruleIn(store, key, { threshold: 50, clear_threshold: 55, for_runs: 2 });
    await evaluate(store, key, facts({ score: 49 }));
    expect(await states(key)).toEqual(['pending']);
    expect(await eventsOf(store, key)).toEqual([]);
    await evaluate(store, key, facts({ score: 41 }));
    await evaluate(store, key, facts({ score: 30 }));
    expect(await states(key)).toEqual(['open']);
    await evaluate(store, key, facts({ score: 54 }));
    expect(await states(key)).toEqual(['open']);
    await evaluate(store, key, facts({ score: 55 }));
    expect(await states(key)).toEqual(['resolved']);
    expect(await eventsOf(store, key)).toEqual(['alert.triggered', 'alert.resolved']);
    expect((await alertsOf(store, key))[0]).toMatchObject({ value: 41, details: { worst: 30 } });
  });

  test('one good run between two bad ones begins anew', async () => {
    const key = await watched();
    await ruleIn(store, key, { for_runs: 2 });
    for (const score of [40, 90, 40]) await evaluate(store, key, facts({ score }));
    expect(await states(key)).toEqual(['pending']);
  });

  test('a condition must hold for its time', async () => {
    const key = await watched();
    await ruleIn(store, key, { for_seconds: 600 });
    await evaluate(store, key, facts({ score: 40 }));
    await letPass(store, key, '9 min');
    await evaluate(store, key, facts({ score: 40 }));
    expect(await states(key)).toEqual(['pending']);
    await letPass(store, key, '1 min');
    await evaluate(store, key, facts({ score: 40 }));
    expect(await states(key)).toEqual(['open']);
  });

  test('the time without an answer counts from the last run that reached the server', async () => {
    const key = await watched();
    await ruleIn(store, key, { metric: 'unreachable_seconds', operator: '>=', threshold: 600 });
    await evaluate(store, key, facts());
    await letPass(store, key, '5 min');
    await evaluate(store, key, unreached());
    expect(await states(key)).toEqual(['pending']);
    await letPass(store, key, '5 min');
    await evaluate(store, key, unreached());
    expect(await alertsOf(store, key)).toMatchObject([{ state: 'open', value: expect.closeTo(600, -2) }]);
    await evaluate(store, key, facts());
    expect(await states(key)).toEqual(['resolved']);
  });

  test('an answer in time leaves no trace', async () => {
    const key = await watched();
    await ruleIn(store, key, { metric: 'unreachable_seconds', operator: '>=', threshold: 600 });
    await evaluate(store, key, unreached());
    await evaluate(store, key, facts());
    expect(await alertsOf(store, key)).toEqual([]);
  });

  test('findings are counted by severity and check, and a check that is not measured keeps its count', async () => {
    const key = await watched();
    const critical = { metric: 'findings_critical', operator: '>=', threshold: 2 } as const;
    const all = await ruleIn(store, key, critical);
    const one = await ruleIn(store, key, { ...critical, threshold: 1, check_id: 'PG_CONN_SATURATION' });
    const saturated = outcome('PG_CONN_SATURATION', [fault('PG_CONN_SATURATION')]);
    const wrapped = outcome('PG_XID_WRAPAROUND', [fault('PG_XID_WRAPAROUND')]);
    await evaluate(store, key, facts({ outcomes: [...REACHED, saturated] }));
    expect(await alertsOf(store, key)).toMatchObject([{ rule_id: one, state: 'open', value: 1 }]);
    await evaluate(store, key, facts({ outcomes: [...REACHED, saturated, wrapped] }));
    expect(await alertsOf(store, key)).toMatchObject([
      { rule_id: one },
      { rule_id: all, state: 'open', value: 2 },
    ]);
    const unmeasured = outcome('PG_CONN_SATURATION', [], { measured: false });
    await evaluate(store, key, facts({ outcomes: [...REACHED, unmeasured, wrapped] }));
    expect(await states(key)).toEqual(['open', 'open']);
    await evaluate(store, key, facts({ outcomes: [...REACHED, outcome('PG_CONN_SATURATION'), wrapped] }));
    expect(await states(key)).toEqual(['resolved', 'resolved']);
  });

  test('a size that a run could not read proves nothing, whether the database was left out or its checks failed', async () => {
    const key = await watched();
    const large = { metric: 'measure', check_id: '', operator: '>=', threshold: 100 } as const;
    await ruleIn(store, key, { ...large, measure: 'table_bytes' });
    const size = (database: string, value: number) => ({
      ...measured('', 'table_bytes', value, 'public.a'),
      database,
    });
    const beside = [size('crm', 5)];
    const locked = outcome('PG_DEAD_TUPLES', [], { unmeasured: ['shop'] });
    await evaluate(store, key, facts({ measures: [...beside, size('shop', 200)] }));
    await evaluate(store, key, facts({ measures: beside, leftOut: new Set(['shop']) }));
    await evaluate(store, key, facts({ measures: beside, outcomes: [...REACHED, locked] }));
    expect(await states(key)).toEqual(['open']);
    // It was read, although a check of it failed.
    const read = { measures: [...beside, size('shop', 50)], outcomes: [...REACHED, locked] };
    await evaluate(store, key, facts(read));
    expect(await states(key)).toEqual(['resolved']);
    await evaluate(store, key, facts({ measures: [...beside, size('shop', 200)] }));
    await evaluate(store, key, facts({ measures: beside })); // the database was dropped
    expect(await states(key)).toEqual(['resolved', 'resolved']);
  });

  test('a check that is not measured does not count as a run of a pending alert', async () => {
    const key = await watched();
    const id = 'PG_CONN_SATURATION';
    await ruleIn(store, key, {
      metric: 'findings_critical',
      operator: '>=',
      threshold: 1,
      check_id: id,
      for_runs: 2,
    });
    await evaluate(store, key, facts({ outcomes: [...REACHED, outcome(id, [fault(id)])] }));
    await evaluate(store, key, facts({ outcomes: [...REACHED, outcome(id, [], { measured: false })] }));
    await evaluate(store, key, unreached());
    expect(await states(key)).toEqual(['pending']);
    await evaluate(store, key, facts({ outcomes: [...REACHED, outcome(id, [fault(id)])] }));
    expect(await states(key)).toEqual(['open']);
  });

  test('warnings and worse are counted together, so that an escalation resolves nothing', async () => {
    const key = await watched();
    const id = 'PG_CONN_SATURATION';
    await ruleIn(store, key, { metric: 'findings_warning', operator: '>=', threshold: 1, check_id: id });
    const found = (severity: 'critical' | 'warning') =>
      facts({ outcomes: [...REACHED, outcome(id, [fault(id, { severity, status: severity })])] });
    await evaluate(store, key, found('warning'));
    await evaluate(store, key, found('critical'));
    expect(await states(key)).toEqual(['open']);
  });

  test('a measured value fires once with its worst object, and says the object', async () => {
    const key = await watched();
    const [id, metric] = ['PG_SEQUENCE_EXHAUSTION', 'sequence_used_ratio'];
    await ruleIn(store, key, {
      metric: 'measure',
      check_id: id,
      measure: metric,
      operator: '>=',
      threshold: 0.8,
    });
    const values = (one: number, two: number) =>
      facts({
        outcomes: [...REACHED, outcome(id)],
        measures: [measured(id, metric, one, 'public.a'), measured(id, metric, two, 'public.b')],
      });
    await evaluate(store, key, values(0.5, 0.79));
    expect(await alertsOf(store, key)).toEqual([]);
    await evaluate(store, key, values(0.81, 0.93));
    expect(await alertsOf(store, key)).toMatchObject([
      { state: 'open', value: 0.93, details: { object: 'public.b' } },
    ]);
    await evaluate(store, key, facts({ outcomes: [...REACHED, outcome(id, [], { measured: false })] }));
    expect(await states(key)).toEqual(['open']);
    await evaluate(store, key, facts({ outcomes: [...REACHED, outcome(id)] }));
    expect(await states(key)).toEqual(['resolved']);
  });

  test('a vital is compared too', async () => {
    const key = await watched();
    const vital = { check_id: '', measure: 'connections_count', operator: '>', threshold: 100 } as const;
    await ruleIn(store, key, { metric: 'measure', ...vital });
    await evaluate(store, key, facts({ measures: [measured('', 'connections_count', 101)] }));
    expect(await states(key)).toEqual(['open']);
    await evaluate(store, key, unreached());
    expect(await states(key)).toEqual(['open']);
    await evaluate(store, key, facts({ measures: [measured('', 'connections_count', 100)] }));
    expect(await states(key)).toEqual(['resolved']);
  });

  test('what pulses see comes with a run that they ask for, and otherwise from the minute before it', async () => {
    const key = await watched();
    await ruleIn(store, key, { metric: 'blocked_sessions', operator: '>=', threshold: 3 });
    await ruleIn(store, key, { metric: 'load_active_sessions', operator: '>', threshold: 20 });
    const seen = { blocked_seconds: 45, blocked_sessions: 3, load_active_sessions: null };
    await evaluate(store, key, facts());
    expect(await states(key)).toEqual([]);
    await evaluate(store, key, facts(), seen);
    expect(await alertsOf(store, key)).toMatchObject([{ state: 'open', value: 3 }]);
    const minute = async (ended: string, sessions: number, active: number) =>
      store.writer.query(
        `insert into session_load values ($1, $2, clock_timestamp() + $3::interval - interval '1 min', 1, $5, 0, 9, 9, null, null, null, '{}', '{}', $4, 9)`,
        [key.accountId, key.connectionId, ended, sessions, active],
      );
    await minute('-1 s', 0, 50); // before that run
    await evaluate(store, key, facts());
    expect(await states(key)).toEqual(['open']);
    await minute('0 s', 0, 25);
    await evaluate(store, key, facts());
    expect(await alertsOf(store, key)).toMatchObject([
      { state: 'resolved' },
      { state: 'open', value: 25, details: { worst: 25 } },
    ]);
  });

  test('days left come from the forecasts', async () => {
    const key = await watched();
    await ruleIn(store, key, { metric: 'days_left', threshold: 7 });
    const { accountId, connectionId } = key;
    await store.writer.query(
      `insert into measure_series (account_id, connection_id, series_id, check_id, metric, database, object, grows, slot, last_seen_at)
       values ($1, $2, 1, 'PG_SEQUENCE_EXHAUSTION', 'sequence_used_ratio', '', 'public.ids', true, 1, now())`,
      [accountId, connectionId],
    );
    const full = (interval: string) =>
      store.writer.query(
        `insert into measure_forecast (account_id, connection_id, series_id, made_at, per_day, per_day_low, per_day_high, full_at)
         values ($1, $2, 1, now(), 1, 1, 1, now() + $3::interval)
         on conflict (account_id, connection_id, series_id) do update set full_at = excluded.full_at`,
        [accountId, connectionId, interval],
      );
    await full('8 days');
    await evaluate(store, key, facts());
    expect(await alertsOf(store, key)).toEqual([]);
    await full('6 days');
    await evaluate(store, key, facts());
    expect(await alertsOf(store, key)).toMatchObject([
      { state: 'open', value: 6, details: { object: 'public.ids' } },
    ]);
    await store.writer.query('delete from measure_forecast where account_id = $1', [accountId]);
    await evaluate(store, key, facts());
    expect(await states(key)).toEqual(['resolved']);
  });
});
