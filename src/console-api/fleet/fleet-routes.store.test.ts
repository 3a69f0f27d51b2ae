import { afterAll, beforeAll, expect, test } from 'vitest';
import { buffersOf } from '../../../test/support/buffers.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openPool } from '../../store/connect.ts';
import { type Read, readAs } from '../../store/read.ts';
import { type Fleet, type FleetRow, fleetRoutes } from './fleet-routes.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore({ autovacuum: 'off' });
});
afterAll(() => store.stop());

const CONNECTIONS = 3_000;

const insertConnections = `
  with added as (
    insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, created_at)
    select $1, 'database ' || n, 'postgres', 'direct', 'db.example.com', 5432, 'app', 'watcher', 'verify-full', now()
      from generate_series(1, $2::int) n
    returning account_id, connection_id
  )
  insert into connection_schedule (account_id, connection_id, every, due_at)
  select account_id, connection_id, interval '5 min', now() from added`;

// A check a day for 30 days, each as big as those of sample data, with as many findings as a real one.
const insertChecks = `
  insert into health_check (account_id, connection_id, created_at, score, summary_text, findings)
  select account_id, connection_id, now() - $2::int * interval '1 day', (connection_id + $2) % 101, repeat('s', 100),
         case when $2 = 0 then
           (select jsonb_agg(jsonb_build_object('check_id', 'PG_' || n, 'title', 'T', 'severity', 'warning', 'status', 'warning',
                                                'metric_line', repeat('m', 150), 'remediation', ''))
              from generate_series(1, 60) n) end
    from connection
   where account_id = $1`;
const setLatest = `
  update connection c
     set latest_check_id = h.health_check_id
    from health_check h
   where c.account_id = $1 and h.account_id = $1 and h.connection_id = c.connection_id
     and h.created_at > now() - interval '1 hour'`;

interface Route {
  handler(asked: object): Promise<Fleet>;
}

test('a fleet with its trends reads no check, and costs as many pages as its rows fill', async () => {
  const accountId = await store.account();
  await store.writer.query(insertConnections, [accountId, CONNECTIONS]);
  const root = await store.superuser('store');
  for (const ago of [29, 19, 9, 0]) {
    await store.writer.query(insertChecks, [accountId, ago]);
    await root.query('vacuum connection_trend');
  }
  await store.writer.query(setLatest, [accountId]);
  await root.query('vacuum (analyze) connection, connection_trend, connection_schedule');

  const reader = openPool(store.address, 'console', { max: 1, pipeline: true });
  const asked: [string, unknown[]][] = [];
  const read = async <T>(work: (read: Read) => Promise<T>) => {
    const noted: Read = (statement, values) => {
      asked.push([statement, values]);
      return before(statement, values);
    };
    let before: Read = noted;
    return (
      await readAs(reader, accountId, (own) => {
        before = own;
        return work(noted);
      })
    ).result;
  };
  const [route] = fleetRoutes as unknown as Route[];
  const fleet = await route?.handler({ actor: { accountId }, read, query: {} });
  await reader.end();

  expect(fleet?.data).toHaveLength(CONNECTIONS);
  const scores = fleet?.data.map(({ score }) => score ?? 101) ?? [];
  expect(fleet?.summary.total).toBe(CONNECTIONS);
  expect(scores).toEqual(scores.toSorted((a, b) => a - b));
  for (const row of fleet?.data.slice(0, 200) ?? []) expectRow(row);

  const { rows } = await root.query<{ pages: number }>(`
    select sum(pg_relation_size(name) / 8192)::int as pages
      from unnest(array['connection', 'connection_trend', 'connection_schedule']) name`);
  const pages = rows[0]?.pages ?? 0;
  expect(pages).toBeLessThan(900);
  for (const [statement, values] of asked) {
    expect(statement).not.toContain('health_check');
    // Each page of the three tables once, and some of an index.
    expect(await buffersOf(store, accountId, statement, values, 'console')).toBeLessThan(pages + 300);
  }
  expect(asked.map(([statement]) => /from (connection|maintenance)\s/.exec(statement)?.[1])).toEqual([
    'connection',
    'maintenance',
  ]);
});

function expectRow({ id, score, trend, worst, stale }: FleetRow): void {
  const of = (ago: number) => (id + ago) % 101;
  const expected = Array.from({ length: 30 }, (_, place) => 29 - place).map((ago) =>
    ago % 10 === 9 || ago === 0 ? of(ago) : null,
  );
  expect(trend).toEqual(expected);
  expect(score).toBe(of(0));
  expect(worst).toEqual({ check_id: 'PG_1', title: 'T', severity: 'warning' });
  expect(stale).toBe(false);
}
