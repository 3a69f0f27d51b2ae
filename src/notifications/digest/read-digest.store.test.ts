import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openPool } from '../../store/connect.ts';
import { readAs } from '../../store/read.ts';
import { readDigest } from './read-digest.ts';

let store: TestStore;
let reader: ReturnType<typeof openPool>;
beforeAll(async () => {
  store = await startTestStore();
  reader = openPool(store.address, 'console', { max: 1, pipeline: true });
});
afterAll(async () => {
  await reader.end();
  await store.stop();
});

const WEEK_MS = 7 * 86_400_000;

async function digestOf(accountId: number, from = new Date(Date.now() - WEEK_MS)) {
  const { result } = await readAs(reader, accountId, (read) => readDigest(read, accountId, from));
  const { opened, closed, open, untouched } = result ?? {};
  if (!result || !opened || !closed || !open || !untouched) throw new Error('no digest');
  return { ...result, opened, closed, open, untouched };
}

/** A ticket that opened so long ago, and was resolved so long ago if it was. */
async function ticket(
  [account, connection]: readonly number[],
  {
    severity = 'warning',
    opened,
    resolved = null,
  }: { severity?: string; opened: string; resolved?: string | null },
): Promise<number> {
  const { rows } = await store.writer.query<{ id: number }>(
    `insert into ticket (account_id, connection_id, check_id, object, category, title, severity, status, metric_line, remediation,
                         first_seen_at, last_seen_at, resolved_at)
     values ($1, $2, 'PG_TEST', gen_random_uuid()::text, 'schema', 'A title', $3, case when $5::text is null then 'open' else 'resolved' end,
             '', '', now() - $4::interval, now(), now() - $5::interval)
     returning ticket_id as id`,
    [account, connection, severity, opened, resolved],
  );
  return rows[0]?.id ?? 0;
}

test('an account without databases has an empty digest, an unknown one has none', async () => {
  const account = await store.account();
  expect(await digestOf(account)).toMatchObject({
    account: { id: account },
    connections: 0,
    score: { now: null, before: null },
    opened: { critical: 0, warning: 0, info: 0, first: [] },
    will_be_full: [],
    backups: { expected: 0, overdue: [], failed: [] },
  });
  const { result } = await readAs(reader, 999_999, (read) => readDigest(read, 999_999, new Date()));
  expect(result).toBe(null);
});

test('tickets that opened, closed, are open and were not touched, worst first', async () => {
  const account = await store.account();
  const at = [account, await store.connection(account)] as const;
  const fresh = await ticket(at, { severity: 'critical', opened: '2 days' });
  const over = await ticket(at, { opened: '3 days', resolved: '1 day' });
  await ticket(at, { opened: '30 days', resolved: '8 days' });
  const old = await ticket(at, { opened: '30 days' });
  const [taken, said] = [await ticket(at, { opened: '20 days' }), await ticket(at, { opened: '21 days' })];
  const released = await ticket(at, { severity: 'info', opened: '22 days' });
  const triage = `insert into ticket_triage (account_id, ticket_id, changed_at, changed_by, acknowledged_at) values ($1, $2, now(), 'Ada', $3)`;
  await store.writer.query(triage, [account, taken, new Date()]);
  await store.writer.query(triage, [account, released, null]);
  await store.writer.query(
    `insert into ticket_comment (account_id, ticket_id, author, body, created_at) values ($1, $2, 'Ada', 'Looking', now())`,
    [account, said],
  );
  const other = await store.account();
  await ticket([other, await store.connection(other)], { opened: '2 days' });
  const { opened, closed, open, untouched } = await digestOf(account);
  const ids = ({ first }: typeof open) => first.map(({ id }) => id);
  expect([opened.critical, opened.warning, ids(opened)[0]]).toEqual([1, 1, fresh]);
  expect([closed.warning, closed.critical]).toEqual([1, 0]);
  const [shut] = closed.first;
  expect([shut?.id, (shut?.closed_at?.getTime() ?? 0) - (shut?.since.getTime() ?? 0)]).toEqual([
    over,
    2 * 86_400_000,
  ]);
  expect(opened.first.map(({ closed_at }) => closed_at !== null)).toEqual([false, true]);
  expect([open.critical, open.warning, open.info, ids(open)]).toEqual([1, 3, 1, [fresh, old, said, taken]]);
  expect(ids(untouched)).toEqual([old, released]);
  expect(Date.now() - (untouched.first[0]?.since.getTime() ?? 0)).toBeGreaterThan(29 * 86_400_000);
});

test('a snoozed ticket is not told as open, as the console does not count it, until its time is over', async () => {
  const account = await store.account();
  const at = [account, await store.connection(account)] as const;
  const listed = await ticket(at, { opened: '30 days' });
  const snoozed = await ticket(at, { opened: '20 days' });
  const triage = `
    insert into ticket_triage (account_id, ticket_id, changed_at, changed_by, acknowledged_at, acknowledged_until, acknowledged_severity)
    values ($1, $2, now(), 'Ada', now(), now() + interval '1 day', 'warning')`;
  await store.writer.query(triage, [account, snoozed]);
  const ids = async () => (await digestOf(account)).open.first.map(({ id }) => id);
  expect(await ids()).toEqual([listed]);
  const end = 'update ticket_triage set acknowledged_until = now() where ticket_id = $1';
  await store.writer.query(end, [snoozed]);
  expect(await ids()).toEqual([listed, snoozed]);
});

test('a plan without tickets has none in its digest', async () => {
  const account = await store.account();
  await ticket([account, await store.connection(account)], { opened: '2 days' });
  await store.writer.query(
    `update account set plan = 'team', requests_per_minute = null where account_id = $1`,
    [account],
  );
  const { result } = await readAs(reader, account, (read) => readDigest(read, account, new Date(0)));
  expect(result).toMatchObject({ connections: 1, opened: null, closed: null, open: null, untouched: null });
});

test('of many tickets four are named and all are counted', async () => {
  const account = await store.account();
  const at = [account, await store.connection(account)] as const;
  for (let n = 0; n < 7; n += 1) await ticket(at, { severity: 'info', opened: `${n + 1} hours` });
  const { opened } = await digestOf(account);
  expect([opened.info, opened.first.length]).toEqual([7, 4]);
});

test('the score against that of the time before, without removed connections', async () => {
  const account = await store.account();
  for (const [before, now] of [
    [90, 60],
    [80, 90],
  ]) {
    const id = await store.connection(account);
    const run = `insert into health_check (account_id, connection_id, score, summary_text, created_at) values ($1, $2, $3, '', now() - $4::interval) returning health_check_id as id`;
    await store.writer.query(run, [account, id, 1, '20 days']);
    await store.writer.query(run, [account, id, before, '8 days']);
    const { rows } = await store.writer.query<{ id: number }>(run, [account, id, now, '1 hour']);
    await store.writer.query(
      'update connection set latest_check_id = $3 where account_id = $1 and connection_id = $2',
      [account, id, rows[0]?.id],
    );
  }
  expect(await digestOf(account)).toMatchObject({ connections: 2, score: { now: 75, before: 85 } });
  await store.writer.query(
    'update connection set removed_at = now() where account_id = $1 and latest_score = 60',
    [account],
  );
  expect(await digestOf(account)).toMatchObject({ connections: 1, score: { now: 90, before: 80 } });
});

test('what will be full within 90 days, what grows most, and backups', async () => {
  const account = await store.account();
  const id = await store.connection(account);
  const forecast = async (series: number, metric: string, perDay: number, days: number | null) => {
    await store.writer.query(
      `insert into measure_series (account_id, connection_id, check_id, metric, database, object, grows, series_id, slot, last_seen_at)
       values ($1, $2, '', $3, 'shop', null, true, $4::int, $4::int, now())`,
      [account, id, metric, series],
    );
    await store.writer.query(
      `insert into measure_forecast (account_id, connection_id, series_id, made_at, per_day, per_day_low, per_day_high, full_at)
       values ($1, $2, $3, now(), $4::float8, $4::float8 * 0.9, $4::float8 * 1.1, now() + make_interval(days => $5))`,
      [account, id, series, perDay, days],
    );
  };
  await forecast(1, 'sequence_used_ratio', 0.01, 60);
  await forecast(2, 'connections_used_ratio', 0.01, 91);
  await forecast(3, 'database_bytes', 5e9, null);
  await forecast(4, 'wal_bytes', 9e9, null);
  await forecast(5, 'smaller_bytes', -9e9, null);
  await forecast(6, 'orders_stuck_count', 5, 70);
  await store.writer.query(
    `insert into own_check (account_id, id, title, engine, sql, unit, operator, warning, remediation, timeout, tags, changed_at, changed_by)
     values ($1, 'ORDERS_STUCK', 'Orders wait', 'postgres', 'select 1 as value', 'count', '>=', 10, '', 5, '{}', now(), 'Ada')`,
    [account],
  );
  await store.writer.query(
    `update measure_series set check_id = 'OWN_ORDERS_STUCK' where account_id = $1 and series_id = 6`,
    [account],
  );
  await store.writer.query(
    `update connection set backup_expected_seconds = 3600, backup_expected_since = now() - interval '1 day'
      where account_id = $1`,
    [account],
  );
  const report = (age: string, succeeded: boolean) =>
    store.writer.query(
      `insert into backup_report (account_id, connection_id, source, at, label, succeeded)
       values ($1, $2, 'heartbeat', now() - $3::interval, '', $4)`,
      [account, id, age, succeeded],
    );
  const digest = await digestOf(account);
  expect(digest.will_be_full.map(({ metric, own_check }) => [metric, own_check])).toEqual([
    ['sequence_used_ratio', null],
    ['orders_stuck_count', { title: 'Orders wait', level: 'warning' }],
  ]);
  expect(digest.grew.map(({ metric }) => metric)).toEqual(['wal_bytes', 'database_bytes']);
  expect(digest.backups).toEqual({
    expected: 1,
    overdue: [{ connection_id: id, connection: expect.any(String), last: null }],
    failed: [],
  });
  await report('30 min', true);
  expect((await digestOf(account)).backups).toEqual({ expected: 1, overdue: [], failed: [] });
  await report('10 min', false);
  expect((await digestOf(account)).backups).toMatchObject({ overdue: [], failed: [{ connection_id: id }] });
});
