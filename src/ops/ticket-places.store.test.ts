import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parsedQuery } from '../../test/parsed-query.ts';
import { startTestStore, type TestStore } from '../../test/store.ts';
import { openPool } from '../database/connect.ts';
import { readAs } from '../database/read.ts';
import { stats } from './stats.ts';
import { tickets } from './tickets.ts';

let store: TestStore;
let reader: pg.Pool;

beforeAll(async () => {
  store = await startTestStore();
  reader = openPool(store.address, 'reader', { max: 2, pipeline: true });
});

afterAll(async () => {
  await reader.end();
  await store.stop();
});

const SEVERITIES = ['critical', 'warning', 'info'] as const;
const START = Date.parse('2026-01-01T00:00:00Z');
const second = (n: number) => new Date(START + n * 1000).toISOString().replace('.000', '');

interface Row {
  id: number;
  connection_id: number;
  status: string;
  severity: string;
  first_seen_at: Date;
}

async function sorted(accountId: number): Promise<Row[]> {
  const { rows } = await store.writer.query<Row>(
    `select ticket_id as id, connection_id, status, severity, first_seen_at from ticket where account_id = $1
      order by first_seen_at desc, ticket_id desc`,
    [accountId],
  );
  return rows;
}

// The expected answers, computed naively.
const naiveStatistics = `
  select count(*) filter (where status = 'open') as open_count,
         count(*) filter (where resolved_at >= date_trunc('week', now(), 'UTC')) as resolved_this_week,
         count(*) filter (where status = 'open' and severity = 'critical') as critical_open,
         count(*) filter (where status = 'open' and severity = 'warning') as warning_open,
         round((avg(extract(epoch from resolved_at - first_seen_at)) / 3600)::numeric, 2)::float8
           as avg_resolution_hours
    from ticket
   where account_id = $1`;

interface Question {
  status?: string;
  severity?: string;
  connection?: number;
  from?: number;
  to?: number;
  page: number;
  per_page: number;
}

const question = (seconds: number, pages: number): fc.Arbitrary<Question> =>
  fc.record(
    {
      status: fc.constantFrom('open', 'resolved'),
      severity: fc.constantFrom(...SEVERITIES),
      connection: fc.nat(2),
      from: fc.integer({ min: -1, max: seconds }),
      to: fc.integer({ min: -1, max: seconds }),
      page: fc.integer({ min: 1, max: pages }),
      per_page: fc.constantFrom(1, 7, 50, 100),
    },
    { requiredKeys: ['page', 'per_page'] },
  ) as fc.Arbitrary<Question>;

/** Expects the page to equal filtering, counting and skipping the sorted rows. */
async function check(accountId: number, connections: number[], rows: Row[], asked: Question): Promise<void> {
  const { status, severity, connection, from, to, page, per_page } = asked;
  if (from !== undefined && to !== undefined && from > to) return;
  const connectionId = connection === undefined ? undefined : connections[connection];
  const query = {
    ...(status === undefined ? {} : { status }),
    ...(severity === undefined ? {} : { severity }),
    ...(connectionId === undefined ? {} : { connection_id: String(connectionId) }),
    ...(from === undefined ? {} : { from: second(from) }),
    ...(to === undefined ? {} : { to: second(to) }),
    ...{ page: String(page), per_page: String(per_page) },
  };
  const request = {
    accountId,
    query: parsedQuery(tickets, query),
    id: '',
    url: 'http://localhost/api/v1/ops/tickets',
  };
  const { result } = await readAs(reader, accountId, (read) => tickets.answer(read, request));
  const chosen = rows
    .filter((row) => status === undefined || row.status === status)
    .filter((row) => severity === undefined || row.severity === severity)
    .filter((row) => connectionId === undefined || row.connection_id === connectionId)
    .filter(({ first_seen_at }) => from === undefined || first_seen_at.getTime() >= START + from * 1000)
    .filter(({ first_seen_at }) => to === undefined || first_seen_at.getTime() < START + (to + 1) * 1000)
    .map(({ id }) => id);
  const selected = { total: result.body.meta.total, ids: result.body.data.map(({ id }) => id) };
  const ids = chosen.slice((page - 1) * per_page, page * per_page);
  expect(selected, JSON.stringify(asked)).toEqual({ total: chosen.length, ids });
}

async function checkStatistics(accountId: number): Promise<void> {
  const request = { accountId, query: {}, id: '', url: 'http://localhost/api/v1/ops/stats' };
  const { result } = await readAs(reader, accountId, (read) => stats.answer(read, request));
  const { rows } = await store.writer.query(naiveStatistics, [accountId]);
  expect(result.body.data).toEqual(rows[0]);
}

const insertTickets = `
  insert into ticket (account_id, connection_id, check_id, object, category, title, severity, status, metric_line,
                      remediation, first_seen_at, last_seen_at, resolved_at)
  select $1, connection_id, 'PG_TEST', gen_random_uuid(), 'schema', 'Test', severity, status, '', '',
         at, at, case when status = 'resolved' then at + n * interval '37 min' end
    from (select n, ($2::bigint[])[connection + 1] as connection_id, severity, status,
                 timestamptz '${new Date(START).toISOString()}' + second * interval '1 s' as at
            from jsonb_to_recordset($3::jsonb)
              as t (n int, connection int, severity text, status text, second int)) t
   order by n`;

/** Pseudo-random tickets, five per second, most of them of the first connection. */
const bulk = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    n,
    connection: n % 127 === 0 ? 2 : n % 61 === 0 ? 1 : 0,
    severity: SEVERITIES[((n * 2_654_435_761) >>> 7) % 3],
    status: ((n * 40_503) >>> 3) % 5 === 0 ? 'open' : 'resolved',
    second: Math.floor(n / 5),
  }));

const turnTickets = `
  update ticket
     set status = $4, severity = coalesce($5, severity),
         resolved_at = case when $4 = 'resolved' then now() - number % 20 * interval '17 h' end
   where account_id = $1 and number % $2 = $3`;

type Step =
  | { open: { connection: number; severity: string; gap: number }[] }
  | { turn: { modulus: number; status: string; severity: string | null } };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    open: fc.array(
      fc.record({
        connection: fc.nat(2),
        severity: fc.constantFrom(...SEVERITIES),
        gap: fc.constantFrom(0, 0, 1, 9),
      }),
      { minLength: 1, maxLength: 12 },
    ),
  }),
  fc.record({
    turn: fc.record({
      modulus: fc.integer({ min: 1, max: 9 }),
      status: fc.constantFrom('open', 'resolved'),
      severity: fc.constantFrom(null, ...SEVERITIES),
    }),
  }),
);

async function connectionsOf(accountId: number): Promise<number[]> {
  return [
    await store.connection(accountId),
    await store.connection(accountId),
    await store.connection(accountId),
  ];
}

describe('tickets and statistics', () => {
  test('equal filtering, sorting, counting and skipping, whatever was opened, resolved and reopened', async () => {
    const asked = fc.array(question(140, 4), { minLength: 12, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(0, 0, 250, 520),
        fc.array(step, { maxLength: 7 }),
        asked,
        async (before, steps, questions) => {
          const accountId = await store.account();
          const connections = await connectionsOf(accountId);
          let at = before / 5;
          await store.writer.query(insertTickets, [accountId, connections, JSON.stringify(bulk(before))]);
          for (const each of steps) {
            if ('turn' in each) {
              const { modulus, status, severity } = each.turn;
              await store.writer.query(turnTickets, [
                accountId,
                modulus,
                (modulus % 3) % modulus,
                status,
                severity,
              ]);
            } else {
              const rows = each.open.map(({ gap, ...ticket }, n) => {
                at += gap;
                return { ...ticket, n, second: at, status: 'open' };
              });
              await store.writer.query(insertTickets, [accountId, connections, JSON.stringify(rows)]);
            }
          }
          const rows = await sorted(accountId);
          for (const each of questions) await check(accountId, connections, rows, each);
          await checkStatistics(accountId);
        },
      ),
      { numRuns: 120 },
    );
  });

  test('are correct across blocks of every level', async () => {
    const accountId = await store.account();
    const connections = await connectionsOf(accountId);
    const count = 67_500;
    await store.writer.query(insertTickets, [accountId, connections, JSON.stringify(bulk(count))]);
    await store.writer.query(turnTickets, [accountId, 11, 3, 'open', null]);
    await store.writer.query(turnTickets, [accountId, 6, 5, 'resolved', 'critical']);
    const rows = await sorted(accountId);
    expect(rows.filter((row) => row.connection_id === connections[0]).length).toBeGreaterThan(65_536);
    await fc.assert(
      fc.asyncProperty(question(count / 5, 800), (asked) => check(accountId, connections, rows, asked)),
      { numRuns: 150 },
    );
    await checkStatistics(accountId);
  });
});

// A block may be missing or present if all its counts are 0 again.
const tallies = `
  select connection_id, level::int, block, open_critical, open_warning, open_info, resolved_critical, resolved_warning,
         resolved_info
    from ticket_tally
   where account_id = $1
     and (open_critical, open_warning, open_info, resolved_critical, resolved_warning, resolved_info)
         <> (0, 0, 0, 0, 0, 0)
   order by 1, 2, 3`;
const naiveTallies = `
  select p.of as connection_id, level, p.place / (256 ^ level)::bigint as block,
         ${['open', 'resolved']
           .flatMap((status) =>
             SEVERITIES.map(
               (severity) =>
                 `count(*) filter (where status = '${status}' and severity = '${severity}')::int as ${status}_${severity}`,
             ),
           )
           .join(', ')}
    from (select *, row_number() over (order by first_seen_at, ticket_id) as n,
                 row_number() over (partition by connection_id order by first_seen_at, ticket_id) as connection_n
            from ticket where account_id = $1) t,
         lateral (values (0, n), (connection_id, connection_n)) as p (of, place),
         generate_series(1, 3) as level
   group by 1, 2, 3
   order by 1, 2, 3`;

test('an older store gets positions and tallies for its existing tickets', async () => {
  const root = await store.superuser();
  await root.query('create database before');
  const client = await store.superuser('before');
  const apply = (name: string) =>
    client.query(
      `begin; ${readFileSync(new URL(`../../migrations/${name}.sql`, import.meta.url), 'utf8')}; commit`,
    );
  await apply('0001_store');
  await apply('0002_monitor');
  await client.query(`
    insert into account (name, kind, plan) values ('One', 'company', 'team'), ('Two', 'company', 'team');
    insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, created_at)
    select 1 + n % 2, n, 'postgres', 'direct', 'h', 1, '', '', 'disable', now() from generate_series(1, 4) n;
    insert into ticket (account_id, connection_id, check_id, object, category, title, severity, status, metric_line,
                        remediation, first_seen_at, last_seen_at, resolved_at)
    select account_id, connection_id, 'X', n, 'schema', '', (array['critical', 'warning', 'info'])[1 + n % 3],
           case when n % 5 = 0 then 'open' else 'resolved' end, '', '', at, at,
           case when n % 5 > 0 then at + n * interval '1 h' end
      from generate_series(1, 700) n
      join connection on connection_id = 1 + (hashint4(n) & 3),
           lateral (select timestamptz '2026-01-01Z' + hashint4(n + 1) % 50 * interval '1 day' as at) a`);
  const shown = (text: string, account: number) => client.query(text, [account]).then(({ rows }) => rows);
  const statistics = await Promise.all([1, 2].map((account) => shown(naiveStatistics, account)));
  await apply('0003_ticket_places');
  for (const account of [1, 2]) {
    const rows = await shown(tallies, account);
    expect(rows.length).toBeGreaterThan(6);
    expect(rows).toEqual(await shown(naiveTallies, account));
    const { rows: places } = await client.query(
      `select bool_and(number = n and connection_number = connection_n) as right
         from (select number, connection_number, row_number() over (order by first_seen_at, ticket_id) as n,
                      row_number() over (partition by connection_id order by first_seen_at, ticket_id) as connection_n
                 from ticket where account_id = $1) t`,
      [account],
    );
    expect(places).toEqual([{ right: true }]);
    const { rows: weeks } = await client.query(
      `select round(sum(seconds) / sum(resolved) / 3600, 2)::float8 as hours from ticket_week where account_id = $1`,
      [account],
    );
    expect(weeks[0]?.hours).toBe(statistics[account - 1]?.[0].avg_resolution_hours);
  }
});

test('the writer role can neither move nor delete a ticket', async () => {
  for (const statement of [
    'delete from ticket',
    'truncate ticket',
    'update ticket set number = 1',
    'update ticket set connection_number = 1',
    'update ticket set first_seen_at = now()',
    'update ticket set connection_id = 1',
    'delete from ticket_tally',
  ]) {
    await expect(store.writer.query(statement), statement).rejects.toThrow(/permission denied/);
  }
});
