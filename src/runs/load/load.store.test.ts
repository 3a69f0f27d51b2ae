import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openPool } from '../../store/connect.ts';
import { listLoad } from './list-load.ts';
import { pruneLoad } from './prune-load.ts';
import { rollUpLoad } from './roll-up-load.ts';
import { hashSource, type LoadMinute, type LoadSource } from './session-load.ts';
import { storeLoad } from './store-load.ts';

let store: TestStore;
let owner: pg.Pool;
beforeAll(async () => {
  store = await startTestStore();
  owner = openPool(store.address, 'owner', { max: 1 });
});
afterAll(async () => {
  await owner.end();
  await store.stop();
});

type Key = { accountId: number; connectionId: number };

const read = async <Row>(statement: string, values: unknown[]) =>
  (await store.writer.query(statement, values)).rows as Row[];

const source = (more: Partial<LoadSource> = {}): LoadSource => ({
  state: 'active',
  wait: '',
  event: '',
  query: '1',
  role: 'app',
  application: 'shop',
  database: 'shop',
  ...more,
});

function minute(
  at: Date,
  sources: readonly [LoadSource, number][],
  more: Partial<LoadMinute> = {},
): LoadMinute {
  return {
    at,
    active: sources.reduce((sum, [, sessions]) => sum + sessions, 0),
    idle_in_transaction: 0,
    blocked_sessions: 0,
    blocked_seconds: 0,
    end_blocked_sessions: 0,
    end_blocked_seconds: 0,
    commits: 10,
    rollbacks: null,
    replica_lag: null,
    sources: sources.map(([one, sessions]) => ({ id: hashSource(one), source: one, sessions })),
    ...more,
  };
}

const NONE = new Set<number>();
const everything = { from: new Date(0), to: new Date(Date.UTC(2100, 0)), limit: 10 };
const at = (clock: string) => new Date(`2026-11-20T${clock}Z`);

const list = ({ accountId, connectionId }: Key, by: Parameters<typeof listLoad>[3]) =>
  listLoad(read, accountId, connectionId, by, everything);

const count = async (table: string, { accountId }: Key) =>
  (
    await read<{ rows: number }>(`select count(*)::int as rows from ${table} where account_id = $1`, [
      accountId,
    ])
  )[0]?.rows;

const readGeneration = async ({ accountId }: Key) =>
  (await read<{ generation: string }>('select generation from account where account_id = $1', [accountId]))[0]
    ?.generation;

test('the load of a range is split by wait, role and the rest', async () => {
  const key = await store.watched();
  const generation = await readGeneration(key);
  const waiting = source({ wait: 'Lock', event: 'transactionid', role: 'bob' });
  await storeLoad(
    store.writer,
    key,
    minute(
      at('10:00:00'),
      [
        [source(), 3],
        [waiting, 1],
      ],
      { active: 6, idle_in_transaction: 1 },
    ),
    NONE,
  );
  await storeLoad(store.writer, key, minute(at('10:01:00'), [[source(), 1]]), NONE);
  expect(await list(key, 'wait')).toEqual([
    { state: 'active', wait: '', event: '', sessions: 2 },
    { state: 'active', wait: 'Lock', event: 'transactionid', sessions: 0.5 },
    { state: null, wait: null, event: null, sessions: 1.5 },
  ]);
  expect(await list(key, 'role')).toMatchObject([{ role: 'app' }, { role: 'bob' }, { role: null }]);
  expect(await list(await store.watched(), 'query')).toEqual([]);
  expect(await readGeneration(key)).toBe(generation); // answers that are kept stay valid
});

test('after a day, minutes become five minutes, however many processes roll them up', async () => {
  const key = await store.watched();
  const other = source({ query: '2' });
  for (const [n, sessions] of [2, 4, 6].entries())
    await storeLoad(
      store.writer,
      key,
      minute(
        at(`10:0${n}:00`),
        n === 0
          ? [
              [source(), sessions],
              [other, 3],
            ]
          : [[source(), sessions]],
        {
          blocked_seconds: n,
        },
      ),
      NONE,
    );
  await storeLoad(store.writer, key, minute(at('10:07:00'), []), NONE);
  await storeLoad(store.writer, key, minute(at('11:00:00'), [[source(), 1]]), NONE);
  const due = Date.parse('2026-11-21T11:30:00Z');
  const rollAll = async () => {
    for await (const _ of rollUpLoad(store.writer, due));
  };
  await Promise.all([rollAll(), rollAll(), rollAll()]);
  await rollAll();
  const rows = await read(
    `select at, minutes, active, blocked_seconds, commits, sources, sessions
       from session_load where account_id = $1 order by at`,
    [key.accountId],
  );
  expect(rows).toEqual([
    {
      at: at('10:00:00'),
      minutes: 5,
      active: 5,
      blocked_seconds: 2,
      commits: 10,
      sources: [hashSource(source()), hashSource(other)],
      sessions: [4, 1],
    },
    { at: at('10:05:00'), minutes: 5, active: 0, blocked_seconds: 0, commits: 10, sources: [], sessions: [] },
    {
      at: at('11:00:00'),
      minutes: 1,
      active: 1,
      blocked_seconds: 0,
      commits: 10,
      sources: [hashSource(source())],
      sessions: [1],
    },
  ]);
});

test('a hostile server fills at most 5 MB, and those that it pushes out come back', async () => {
  const key = await store.watched();
  const long = (n: number) => `${n}`.padEnd(64 / 3, '世');
  const hostile = (from: number): [LoadSource, number][] =>
    Array.from({ length: 40 }, (_, n) => {
      const name = long(from + n);
      return [
        source({ wait: name, event: name, query: name, role: name, application: name, database: name }),
        1,
      ];
    });
  for (let n = 0; n < 39; n++)
    await storeLoad(store.writer, key, minute(new Date(Date.now() + n * 60_000), hostile(n * 40)), NONE);
  expect(await count('session_load_source', key)).toBe(1_500);
  await storeLoad(store.writer, key, minute(new Date(Date.now() + 3_600_000), hostile(0)), NONE);
  const [last] = await read<{ known: boolean }>(
    `select bool_and(s.source_id is not null) as known
       from (select unnest(sources) as source_id from session_load where account_id = $1 order by at desc limit 40) l
       left join session_load_source s using (source_id)`,
    [key.accountId],
  );
  expect(last).toEqual({ known: true });
  await store.writer.query(
    `insert into session_load
     select $1, $2, now() - n * interval '1 min', 1, 1, 1, 1, 1, 1, 1, 1, array_fill(4503599627370495, array[40]), array_fill(1.5::real, array[40]), 1, 1
       from generate_series(1, 1440 + 14 * 288) n on conflict do nothing`,
    [key.accountId, key.connectionId],
  );
  const [size] = await read<{ bytes: number }>(
    `select sum(bytes)::float8 as bytes
       from (select sum(pg_column_size(l.*) + 28 + 90) as bytes from session_load l where account_id = $1
             union all
             select sum(pg_column_size(s.*) + 28 + 60) from session_load_source s where account_id = $1) parts`,
    [key.accountId],
  );
  expect(size?.bytes).toBeLessThan(5e6);
});

test('the load is kept for 14 days, and a connection that was removed has no more', async () => {
  const key = await store.watched();
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
  for (const days of [1, 13, 15])
    await storeLoad(store.writer, key, minute(daysAgo(days), [[source({ query: `${days}` }), 1]]), NONE);
  await store.writer.query(
    `update session_load_source set seen_at = now() - query::int * interval '25 h' where account_id = $1`,
    [key.accountId],
  );
  for await (const _ of pruneLoad(owner));
  expect(await count('session_load', key)).toBe(2);
  expect(await count('session_load_source', key)).toBe(2);
  await store.writer.query('update connection set removed_at = now() where account_id = $1', [key.accountId]);
  await storeLoad(store.writer, key, minute(new Date(), [[source({ query: 'new' }), 1]]), NONE);
  expect(await count('session_load', key)).toBe(2);
  expect(await count('session_load_source', key)).toBe(2);
});
