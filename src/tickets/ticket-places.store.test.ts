import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parsedQuery } from '../../test/support/parsed-query.ts';
import { countValues } from '../../test/support/rotation.ts';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { stats } from '../api/endpoints/stats.ts';
import { tickets } from '../api/endpoints/tickets.ts';
import { openPool } from '../store/connect.ts';
import { readOnce } from '../store/exchange/read-once.ts';
import {
  bulk,
  insertTickets,
  naiveStatistics,
  naiveTallies,
  type Question,
  question,
  START,
  second,
  step,
  tallies,
  turnTickets,
} from './tickets-fixture.ts';

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

/** The page is what filtering, counting and skipping the sorted rows gives. */
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
    page: String(page),
    per_page: String(per_page),
  };
  const request = {
    accountId,
    query: parsedQuery(tickets, query),
    id: '',
    url: 'http://localhost/api/v1/ops/tickets',
  };
  const { result } = await readOnce(reader, accountId, (read) => tickets.answer(read, request));
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
  const { result } = await readOnce(reader, accountId, (read) => stats.answer(read, request));
  const { rows } = await store.writer.query(naiveStatistics, [accountId]);
  expect(result.body.data).toEqual(rows[0]);
}

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
      { numRuns: countValues(120) },
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
      { numRuns: countValues(150) },
    );
    await checkStatistics(accountId);
  });
});

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
