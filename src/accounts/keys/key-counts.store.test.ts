import type pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { writeLog } from '../../../test/support/write-log.ts';
import { openPool } from '../../store/connect.ts';
import { ENDPOINT_PATHS } from '../../vocabulary/endpoint-paths.ts';
import { countKeys, countUp, UNCOUNTED } from './key-counts.ts';
import { selectUsage } from './key-use.sql.ts';
import { selectKeys } from './list-keys.sql.ts';

let store: TestStore;
let root: pg.Client;
let owner: pg.Pool;

beforeAll(async () => {
  store = await startTestStore();
  root = await store.superuser('store');
  owner = openPool(store.address, 'owner', { max: 1 });
});

afterEach(async () => {
  await root.query(
    'truncate activity, activity_floor, activity_head, key_counted, key_day, key_hour, key_window',
  );
});

afterAll(async () => {
  await owner.end();
  await store.stop();
});

// About 940 entries an hour, nine per key: the last 25 hours take more than one step.
const LOG = { length: 45_000, rare: 'event', days: 2 } as const;
const EVERY_ENTRY = 1_000_000;

async function writeCounted(log: Parameters<typeof writeLog>[1] = LOG): Promise<number> {
  const accountId = await writeLog(store, log);
  await root.query(
    'update activity set status = case when id % 7 = 0 then 429 else 200 end where api_key_id is not null',
  );
  return accountId;
}

interface Row {
  id: number;
  requests: number | null;
  limited: number | null;
  /** With microseconds. */
  since: string;
  last_used_from: string | null;
}

async function listed(accountId: number, { counted = true, read = EVERY_ENTRY } = {}): Promise<Row[]> {
  const { rows } = await store.writer.query<{ row: Row }>(
    `select to_jsonb(listed) as row from (${selectKeys}) listed`,
    [accountId, read, counted],
  );
  return rows.map(({ row }) => row);
}

/** Asserts that each key's counts match the log since the reported instant. Returns how many hours ago that is. */
async function expectTrue(accountId: number, read = EVERY_ENTRY): Promise<number> {
  const rows = await listed(accountId, { read });
  const { since = '' } = rows[0] ?? {};
  const { rows: logged } = await root.query<{ id: number; requests: number; limited: number }>(
    `select api_key_id as id, count(*) as requests, count(*) filter (where status = 429) as limited
       from activity
      where account_id = $1 and api_key_id is not null and occurred_at >= $2
      group by api_key_id`,
    [accountId, since],
  );
  const counts = new Map(logged.map((row) => [row.id, row]));
  expect(rows).toHaveLength(5_000);
  expect(rows.map(({ id, requests, limited }) => ({ id, requests, limited }))).toEqual(
    rows.map(({ id }) => counts.get(id) ?? { id, requests: 0, limited: 0 }),
  );
  return (Date.now() - Date.parse(since)) / 3_600_000;
}

/** Runs a round and returns its number of steps. */
async function countAll(pool = owner): Promise<number> {
  let steps = 0;
  for await (const _ of countKeys(pool)) steps += 1;
  return steps;
}

/** Appends requests of the account's first key to the log. */
async function append(accountId: number, requests: number): Promise<void> {
  await root.query(
    `with added as (
       insert into activity (account_id, id, occurred_at, action_type, page_path, api_key_id, status)
       select $1, last_id + n, clock_timestamp(), 'api_request', '/api/v1/health/fleet',
              (select min(api_key_id) from api_key where account_id = $1), 200
         from activity_head, generate_series(1, $2::integer) n
        where account_id = $1)
     update activity_head set last_id = last_id + $2, last_at = clock_timestamp() where account_id = $1`,
    [accountId, requests],
  );
}

test('listed counts match the log, including uncounted entries', async () => {
  const accountId = await writeCounted({ ...LOG, length: UNCOUNTED });
  expect(await expectTrue(accountId)).toBeCloseTo(24, 1);
  expect(await countAll()).toBeGreaterThan(1);
  expect(await expectTrue(accountId)).toBeCloseTo(24, 1);
  await append(accountId, 100);
  await expectTrue(accountId);
  await countAll();
  await expectTrue(accountId);
});

test('a first hour with many entries counts as a whole', async () => {
  const accountId = await writeCounted();
  await countAll();
  const hours = await expectTrue(accountId, 10);
  expect(hours).toBeGreaterThanOrEqual(24);
  expect(hours).toBeLessThan(25.01);
});

test('a query counts the uncounted entries, and returns null when there are too many', async () => {
  const accountId = await writeCounted();
  expect(await countUp(store.writer, accountId, 0)).toBe(false);
  for (const { requests, limited } of await listed(accountId, { counted: false })) {
    expect({ requests, limited }).toEqual({ requests: null, limited: null });
  }
  expect(await countUp(store.writer, accountId, 60_000)).toBe(true);
  await expectTrue(accountId);
});

test('only the last 25 hours of a long log are counted', async () => {
  const accountId = await writeCounted({ ...LOG, days: 30 });
  await countAll();
  await expectTrue(accountId);
  const { rows } = await root.query(
    `select count(*) filter (where hour < date_trunc('hour', now() - interval '25 hours')) as older, count(*) > 0 as any
       from key_hour`,
  );
  expect(rows).toEqual([{ older: 0, any: true }]);
});

test('two concurrent rounds count each entry once', async () => {
  const accountId = await writeCounted();
  const second = openPool(store.address, 'owner', { max: 1 });
  await Promise.all([
    countAll(),
    countAll(second),
    countUp(store.writer, accountId, 60_000),
    countUp(store.writer, accountId, 60_000),
  ]);
  await second.end();
  await expectTrue(accountId);
});

test('an interrupted round resumes where it stopped', async () => {
  const accountId = await writeCounted();
  for await (const _ of countKeys(owner)) break;
  const { rows } = await root.query(
    'select counted_to < last_id as some from key_counted join activity_head using (account_id)',
  );
  expect(rows).toEqual([{ some: true }]);
  await countAll();
  await expectTrue(accountId);
});

test('a round without new entries does nothing, and old hours are deleted', async () => {
  const accountId = await writeCounted();
  await root.query(
    `insert into key_hour (account_id, api_key_id, hour, requests, limited)
     select account_id, api_key_id, date_trunc('hour', now() - interval '3 days'), 9, 0 from activity
      where account_id = $1 and occurred_at > now() - interval '1 hour' and api_key_id is not null
      group by account_id, api_key_id`,
    [accountId],
  );
  await countAll();
  const { rows } = await root.query(`select from key_hour where hour < now() - interval '2 days'`);
  expect(rows).toHaveLength(0);
  expect(await countAll()).toBe(0);
});

test('the last IP address of a key comes from the log, then from its last hour, which outlives the log', async () => {
  const accountId = await writeCounted({ ...LOG, length: UNCOUNTED });
  await root.query(`update activity set source_ip = inet '10.0.0.0' + id where api_key_id is not null`);
  const { rows } = await root.query<{ id: number; from: string }>(
    `select api_key_id as id, host(inet '10.0.0.0' + max(id)) as from
       from activity
      where api_key_id is not null and occurred_at >= now() - interval '22 hours'
      group by api_key_id`,
  );
  expect(rows.length).toBeGreaterThan(4_000);
  const expectKnown = async () => {
    const told = new Map((await listed(accountId)).map((row) => [row.id, row.last_used_from]));
    expect(rows.map(({ id }) => ({ id, from: told.get(id) }))).toEqual(rows);
  };
  await expectKnown();
  await countAll();
  await expectKnown();

  await root.query(`update key_hour set hour = hour - interval '3 days'`);
  await root.query('delete from activity where id <= $1', [UNCOUNTED]);
  await root.query('insert into activity_floor (account_id, first_id, events) values ($1, $2, $3)', [
    accountId,
    UNCOUNTED + 1,
    UNCOUNTED / 10,
  ]);
  await append(accountId, 1);
  await countAll();
  const { rows: hours } = await root.query('select from key_hour group by api_key_id having count(*) > 1');
  expect(hours).toHaveLength(0);
  rows.splice(
    rows.findIndex(({ id }) => id === Math.min(...rows.map((row) => row.id))),
    1,
  );
  await expectKnown();
});

interface Usage {
  day: string;
  endpoint: string;
  status: number;
  requests: number;
}

test('usage by day, endpoint and status matches the log, counted or not, and the last 30 days outlive the log', async () => {
  const accountId = await store.account();
  const { rows: keys } = await root.query<{ id: number }>(
    `insert into api_key (account_id, name, hash, last_four, created_at)
     select $1, 'key', sha256(n::text::bytea), 'abcd', now() from generate_series(1, 2) n returning api_key_id as id`,
    [accountId],
  );
  const [mine = 0, other = 0] = keys.map(({ id }) => id);
  await root.query('update activity_head set last_id = 0 where account_id = $1', [accountId]);
  const paths: [path: string, endpoint: string][] = [
    ...ENDPOINT_PATHS.map((path): [string, string] => [`/api/v1${path.replace(':id', '7')}`, path]),
    ['/api/v1/health/connections/abc/checks/latest', '/health/connections/:id/checks/latest'],
    ...[
      '/api/v1/nothing',
      '/api/v2/health/fleet',
      '/API/v1/health/fleet',
      '/api/v1/health/connections/:id/checks/latest/x',
    ].map((path): [string, string] => [path, '']),
    ['/api/v1/health/connections/a/b/checks/latest', ''],
  ];
  await root.query(
    `with added as (
       insert into activity (account_id, id, occurred_at, action_type, page_path, api_key_id, status)
       select $1, (n - 1) * $4::integer + p.nth, clock_timestamp(), 'api_request', p.path,
              case when n % 5 = 0 then $3::bigint else $2::bigint end, case n % 3 when 0 then 200 when 1 then 404 else 429 end
         from generate_series(1, 60) n, unnest($5::text[]) with ordinality p (path, nth))
     update activity_head set last_id = 60 * $4::integer, last_at = clock_timestamp() where account_id = $1`,
    [accountId, mine, other, paths.length, paths.map(([path]) => path)],
  );
  const usage = async (key: number) => {
    const { rows } = await store.writer.query<Usage>(selectUsage, [accountId, key, ENDPOINT_PATHS]);
    return rows.map(({ endpoint, status, requests }) => ({ endpoint, status, requests }));
  };
  const expected = [...new Set(paths.map(([, endpoint]) => endpoint))].sort().flatMap((endpoint) => {
    const written = paths.filter((one) => one[1] === endpoint).length;
    return [200, 404, 429].map((status) => ({ endpoint, status, requests: 16 * written }));
  });
  expect(await usage(mine)).toEqual(expected);
  await countAll();
  expect(await usage(mine)).toEqual(expected);
  expect((await usage(other)).map(({ requests }) => requests)).toContain(4);

  await append(accountId, 3);
  const fleet = { endpoint: '/health/fleet', status: 200 };
  const after = expected.map((row) =>
    row.endpoint === fleet.endpoint && row.status === 200 ? { ...row, requests: row.requests + 3 } : row,
  );
  expect(await usage(mine)).toEqual(after);
  await root.query('delete from activity where account_id = $1 and id <= 60 * $2', [accountId, paths.length]);
  expect(await usage(mine)).toEqual(after);

  await root.query(`update key_day set day = (now() at time zone 'UTC')::date - 29`);
  expect((await usage(mine)).length).toBeGreaterThan(20);
  await root.query(`update key_day set day = day - 1`);
  expect(await usage(mine)).toEqual([{ ...fleet, requests: 3 }]);
  await root.query(`update key_day set day = day - 2`);
  await countAll();
  const { rows: left } = await root.query('select endpoint, requests from key_day where account_id = $1', [
    accountId,
  ]);
  expect(left).toEqual([{ endpoint: '/health/fleet', requests: 3 }]);
});

test('a key without requests has one row, which says the day', async () => {
  const accountId = await store.account();
  const { rows } = await store.writer.query<Usage & { today: string }>(selectUsage, [
    accountId,
    1,
    ENDPOINT_PATHS,
  ]);
  expect(rows).toEqual([
    {
      day: null,
      endpoint: null,
      status: null,
      requests: null,
      today: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    },
  ]);
});
