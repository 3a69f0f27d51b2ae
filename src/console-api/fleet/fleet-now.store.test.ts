import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openTestConsole, type TestConsole } from '../console-fixture.ts';
import type { FleetNow } from './fleet-now.ts';

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

const insertLoad = `
  insert into session_load (account_id, connection_id, at, minutes, active, idle_in_transaction, blocked_sessions,
                            blocked_seconds, sources, sessions)
  values ($1, $2, now() - $3 * interval '1 min', 1, $4, 0, 0, 0, '{}', '{}')`;

const insertEpisode = `
  insert into blocking_episode
  values ($1, $2, now() - interval '5 min', $3, now() - $4 * interval '1 s', $5, '', '', '', 7, 9, 9, '[]')`;

const UNMEASURED = { transactions: null, queries: null, lag: null };

test('the load of the last minute, and who is blocked now, of each connection that has a pulse', async () => {
  const { accountId, read } = await testConsole.owner();
  const [busy, quiet, old, blocked] = [
    await store.connection(accountId),
    await store.connection(accountId),
    await store.connection(accountId),
    await store.connection(accountId),
  ];
  const write = (statement: string, ...values: unknown[]) =>
    store.writer.query(statement, [accountId, ...values]);
  await write(insertLoad, busy, 2, 1);
  await write(insertLoad, busy, 1, 3.5);
  await write(
    'update session_load set commits = 40, rollbacks = 2, replica_lag = 3 where account_id = $1 and connection_id = $2 and active = 3.5',
    busy,
  );
  await write(insertLoad, quiet, 1, 0);
  await write(insertLoad, old, 10, 8);
  await write(insertEpisode, blocked, '1/1', 1, null);
  await write(insertEpisode, blocked, '2/2', 1, null);
  await write(insertEpisode, busy, '3/3', 400, null); // its monitor died
  await write(insertEpisode, quiet, '4/4', 1, new Date()); // over
  const { data } = await read<FleetNow>('/fleet/now');
  expect(data.toSorted((a, b) => a.id - b.id)).toEqual([
    { id: busy, active: 3.5, blocked: 0, transactions: 42, queries: null, lag: 3 },
    { id: quiet, active: 0, blocked: 0, ...UNMEASURED },
    { id: blocked, active: null, blocked: 14, ...UNMEASURED },
  ]);
  const stranger = await testConsole.owner();
  expect(await stranger.read<FleetNow>('/fleet/now')).toEqual({ data: [] });
});

test('throughput and lag of the latest run, the largest of several, unless it is too old', async () => {
  const { accountId, read } = await testConsole.owner();
  const [fresh, old] = [await store.connection(accountId), await store.connection(accountId)];
  for (const [id, hours] of [
    [fresh, 1],
    [old, 25],
  ] as const) {
    await store.writer.query(
      `insert into measure_series (account_id, connection_id, series_id, slot, check_id, metric, database, object, last_seen_at)
       values ($1, $2, 1, 1, '', 'transactions_per_second', '', null, now()),
              ($1, $2, 2, 2, '', 'replication_lag_seconds', '', 'a', now()),
              ($1, $2, 3, 3, '', 'replication_lag_seconds', '', 'b', now()),
              ($1, $2, 4, 4, 'PG_X', 'queries_per_second', '', null, now())`,
      [accountId, id],
    );
    await store.writer.query(
      `insert into measure_latest (account_id, connection_id, measured_at, series_ids, values, operators, warnings, criticals, limits)
       values ($1, $2, now() - $3 * interval '1 h', '{1,2,3,4}', '{812,3,9,7}', '{null,null,null,null}',
               '{null,null,null,null}', '{null,null,null,null}', '{null,null,null,null}')`,
      [accountId, id, hours],
    );
  }
  expect(await read<FleetNow>('/fleet/now')).toEqual({
    data: [{ id: fresh, active: null, blocked: 0, transactions: 812, queries: null, lag: 9 }],
  });
});
