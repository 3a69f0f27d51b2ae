import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';

// The trigger of migrations/0009_connection_trend.sql.

let store: TestStore;
beforeAll(async () => {
  store = await startTestStore();
});
afterAll(() => store.stop());

interface Check {
  connection: number;
  at: string;
  score: number;
  /** Status of the first finding. */
  status?: string;
}

const insert = `
  insert into health_check (account_id, connection_id, created_at, score, summary_text, findings)
  select $1, connection, at, score, 's',
         case when status is not null
              then jsonb_build_array(jsonb_build_object('check_id', 'PG_X', 'title', 'X', 'severity', status, 'status', status,
                                                        'metric_line', repeat('long', 5000))) end
    from jsonb_to_recordset($2) as c (connection bigint, at timestamptz, score int, status text)`;

async function check(accountId: number, ...checks: Check[]): Promise<void> {
  await store.writer.query(insert, [accountId, JSON.stringify(checks)]);
}

async function trendOf(accountId: number, connection: number) {
  const { rows } = await store.writer.query<{
    last_day: string;
    scores: (number | null)[];
    last_checked_at: Date;
    worst: object | null;
  }>(
    `select last_day::text, scores, last_checked_at, worst from connection_trend
      where account_id = $1 and connection_id = $2`,
    [accountId, connection],
  );
  return rows[0];
}

test('the trend has the last score of each day, whatever statements insert the checks in whatever order', async () => {
  const accountId = await store.account();
  const [one, two] = [await store.connection(accountId), await store.connection(accountId)];
  await check(accountId, { connection: one, at: '2026-03-01T00:00:00Z', score: 10 });
  await check(accountId, { connection: one, at: '2026-03-01T23:59:59.999Z', score: 20, status: 'critical' });
  const severe = { check_id: 'PG_X', title: 'X', severity: 'critical' };
  expect(await trendOf(accountId, one)).toMatchObject({ last_day: '2026-03-01', worst: severe });
  // Several checks at once, of two connections, with days missing and the latest check not last.
  await check(
    accountId,
    { connection: one, at: '2026-03-04T12:00:00Z', score: 50, status: 'ok' },
    { connection: two, at: '2026-03-02T12:00:00Z', score: 70, status: 'warning' },
    { connection: one, at: '2026-03-04T09:00:00Z', score: 40, status: 'critical' },
  );
  const first = await trendOf(accountId, one);
  expect(first?.scores.slice(0, 5)).toEqual([50, null, null, 20, null]);
  expect(first?.scores).toHaveLength(90);
  expect(first).toMatchObject({ last_day: '2026-03-04', worst: null });
  expect(first?.last_checked_at.toISOString()).toBe('2026-03-04T12:00:00.000Z');
  expect((await trendOf(accountId, two))?.scores.slice(0, 2)).toEqual([70, null]);
  // A check of a past day: only its score counts.
  await check(accountId, { connection: one, at: '2026-03-03T12:00:00Z', score: 33, status: 'critical' });
  expect(await trendOf(accountId, one)).toMatchObject({ last_day: '2026-03-04', worst: null });
  expect((await trendOf(accountId, one))?.scores.slice(0, 4)).toEqual([50, 33, null, 20]);
  // After 90 days nothing is left.
  await check(accountId, { connection: one, at: '2026-06-02T12:00:00Z', score: 99 });
  expect((await trendOf(accountId, one))?.scores).toEqual([99, ...Array(89).fill(null)]);
});

test('updating the trend touches few buffers, however many connections there are', async () => {
  const accountId = await store.account();
  const connection = await store.connection(accountId);
  await store.writer.query(
    `insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, created_at)
     select $1, n, 'postgres', 'direct', 'h', 1, '', '', 'disable', now() from generate_series(1, 2000) n`,
    [accountId],
  );
  await store.writer.query(
    `insert into health_check (account_id, connection_id, created_at, score, summary_text, findings)
     select account_id, connection_id, now(), 80, 's', '[]' from connection where account_id = $1`,
    [accountId],
  );
  const root = await store.superuser('store');
  await root.query('set track_functions = pl');
  const explain = `explain (analyze, buffers, format json)
    insert into health_check (account_id, connection_id, created_at, score, summary_text, findings)
    values ($1, $2, now(), 81, 's', '[]')`;
  for (let run = 0; run < 10; run++) await root.query(explain, [accountId, connection]);
  const before = await buffers(root);
  await root.query(explain, [accountId, connection]);
  expect((await buffers(root)) - before).toBeLessThan(120);
});

test('an older store gets the trends of its existing checks, and the worst finding of the latest ones', async () => {
  const root = await store.superuser();
  await root.query('create database before');
  const client = await store.superuser('before');
  const migrations = new URL('../../../migrations/', import.meta.url);
  const files = readdirSync(migrations).toSorted();
  const apply = (file: string) =>
    client.query(`begin; ${readFileSync(new URL(file, migrations), 'utf8')}; commit`);
  const own = files.findIndex((file) => file.startsWith('0009_'));
  for (const file of files.slice(0, own)) await apply(file);
  await client.query(`
    insert into account (name, kind, plan) values ('One', 'company', 'team'), ('Two', 'company', 'team');
    insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, created_at)
    select n, n, 'postgres', 'direct', 'h', 1, '', '', 'disable', now() from generate_series(1, 2) n;
    insert into health_check (account_id, connection_id, created_at, score, summary_text, findings)
    select n, n, timestamptz '2026-03-31T12:00Z' - ago * interval '8 hours', ago % 101, 's',
           case when ago < 3 then jsonb_build_array(jsonb_build_object(
             'check_id', 'PG_' || ago, 'title', 'T', 'severity', 'warning', 'status', 'warning')) end
      from generate_series(300, 0, -1) ago, generate_series(1, 2) n;
    update connection c set latest_check_id = (select max(health_check_id) from health_check h
                                                where h.connection_id = c.connection_id)`);
  await apply(files[own] ?? '');
  const { rows } = await client.query('select * from connection_trend order by account_id');
  // 12:00, then 20:00, 12:00 and 04:00 of each earlier day.
  const scores = Array.from({ length: 90 }, (_, day) => (day === 0 ? 0 : 3 * day - 1) % 101);
  for (const row of rows) {
    expect(row).toMatchObject({ scores, worst: { check_id: 'PG_0', title: 'T', severity: 'warning' } });
    expect(row.last_checked_at.toISOString()).toBe('2026-03-31T12:00:00.000Z');
  }
  expect(rows).toHaveLength(2);
  expect((await client.query(`select to_regclass('checked_before') as left`)).rows).toEqual([{ left: null }]);
});

/** Shared buffers that the session has touched so far. */
async function buffers(client: Awaited<ReturnType<TestStore['superuser']>>): Promise<number> {
  await client.query('select pg_stat_force_next_flush()');
  const { rows } = await client.query<{ touched: number }>(
    `select sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)::int as touched
       from pg_statio_user_tables`,
  );
  return rows[0]?.touched ?? 0;
}
