import { afterAll, beforeAll, expect, test } from 'vitest';
import { buffersOf, keptPlanBuffers } from '../../../../test/support/buffers.ts';
import { startTestStore, type TestStore } from '../../../../test/support/store.ts';
import { checkQuery } from '../../../http/edge/parameters.ts';
import type { Endpoint } from '../../../http/endpoint.ts';
import { cursorMark, writeCursor } from '../../../http/keyset.ts';
import { openPool } from '../../../store/connect.ts';
import { type Read, readAs } from '../../../store/read.ts';
import { askEndpoint } from '../ask-fixture.ts';
import { fleetMeasures } from '../measures/fleet-latest.ts';
import { tickets } from '../tickets.ts';
import { alerts } from './alerts.ts';
import { changes, fleetChanges } from './changes.ts';
import { episodes } from './episodes.ts';
import { queries } from './queries.ts';

const ROWS = 30_000;
/** Of each kind of episode. */
const KEPT = 1_000;

let store: TestStore;
let reader: ReturnType<typeof openPool>;
let accountId: number;
let connectionId: number;

// The planner has only the statistics that the test collects.
beforeAll(async () => {
  store = await startTestStore({ autovacuum: 'off' });
  reader = openPool(store.address, 'reader', { max: 1, pipeline: true });
  accountId = await store.account();
  connectionId = await store.connection(accountId);
  const root = await store.superuser('store');
  const of = [accountId, connectionId, ROWS];
  const at = `timestamptz '2026-01-01Z' + n * interval '1 min'`;
  await root.query(
    `insert into connection_change (account_id, connection_id, at, kind, subject)
     select $1, $2, ${at}, 'setting', n from generate_series(1, $3) n`,
    of,
  );
  await root.query(
    `with rule as (
       insert into alert_rule (account_id, name, metric, operator, threshold, severity, created_at)
       values ($1, 'r', 'score', '<', 50, 'critical', now()) returning rule_id)
     insert into alert (account_id, rule_id, connection_id, state, since, metric, operator, threshold, value, details, severity,
                        triggered_at, resolved_at)
     select $1, rule_id, $2, 'resolved', ${at}, 'score', '<', 50, 1, '{"metric_line": "", "object": null}', 'critical', ${at}, ${at}
       from rule, generate_series(1, $3) n`,
    of,
  );
  await root.query(
    `insert into ticket (account_id, connection_id, check_id, object, category, title, severity, status, metric_line, remediation,
                         first_seen_at, last_seen_at, resolved_at, number, connection_number)
     select $1, $2, 'PG_' || n % 5, n, 'c', 't', 'info', 'resolved', 'm', 'r', ${at}, ${at}, ${at}, n, n from generate_series(1, $3) n`,
    of,
  );
  await root.query(
    `with c as (
       insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, created_at)
       select $1, n, 'postgres', 'direct', 'h', 1, '', '', 'disable', now() from generate_series(1, 1500) n returning connection_id
     ), s as (
       insert into measure_series (account_id, connection_id, series_id, slot, check_id, metric, database, object, last_seen_at)
       select $1, connection_id, n, n, '', 'table_bytes', 'shop', n, now() from c, generate_series(1, 20) n
     )
     insert into measure_latest (account_id, connection_id, measured_at, series_ids, values, operators, warnings, criticals, limits)
     select $1, connection_id, now(), array(select generate_series(1, 20)), array_fill(1::float8, array[20]),
            array_fill(null::text, array[20]), array_fill(null::float8, array[20]), array_fill(null::float8, array[20]),
            array_fill(null::float8, array[20])
       from c`,
    [accountId],
  );
  await root.query(
    `insert into blocking_episode (account_id, connection_id, began_at, root, seen_at, ended_at, database, role, application,
                                   most_sessions, longest_seconds, lost_seconds, trees)
     select $1, $2, timestamptz '2026-01-01Z' + n / 2 * interval '1 min', n, now(), now(), 'shop', 'app', '', 1, 1, 1,
            (select jsonb_agg(md5(n || ' ' || part)) from generate_series(1, 50) part)
       from generate_series(1, ${KEPT}) n`,
    of.slice(0, 2),
  );
  await root.query(
    `insert into deadlock (account_id, connection_id, at, transactions)
     select $1, $2, ${at}, '[{"digest": "a", "command": "UPDATE", "tables": [], "is_victim": true}]' from generate_series(1, ${KEPT}) n`,
    of.slice(0, 2),
  );
  await root.query(
    `insert into query_hour (account_id, connection_id, hour, all_calls, all_seconds, query, database, role, calls, seconds, rows, read,
                             hit, temporary)
     select $1, $2, timestamptz '2026-01-01Z' + h * interval '1 h', 50, 50,
            array(select md5((h * 7 + q)::text) from generate_series(1, 50) q), array_fill('shop'::text, array[50]),
            array_fill('app'::text, array[50]), ones, ones, ones, ones, ones, ones
       from generate_series(0, 335) h, (select array_fill(1::float8, array[50]) as ones) o`,
    of.slice(0, 2),
  );
  await root.query('vacuum (analyze)');
});

afterAll(async () => {
  await reader.end();
  await store.stop();
});

/** The statements of an endpoint that reads a page's rows. */
async function recordStatements(
  endpoint: Endpoint,
  asked: Record<string, string>,
): Promise<[string, unknown[]][]> {
  const statements: [string, unknown[]][] = [];
  const request = {
    accountId,
    query: checkQuery(asked, endpoint.query, undefined),
    id: String(connectionId),
    url: 'http://localhost/api/v1/health/changes',
  };
  await readAs(reader, accountId, (read) => {
    const note: Read = (statement, values) => {
      statements.push([statement, values]);
      return read(statement, values);
    };
    return endpoint.answer(note, request);
  });
  return statements.filter(([statement]) => /\blimit\b/.test(statement));
}

/** The buffers of the statement that reads the page's rows. */
async function buffersOfPage(endpoint: Endpoint, asked: Record<string, string>): Promise<number> {
  const statements = await recordStatements(endpoint, asked);
  const rows = statements.filter(([statement]) => !/^\s*select count\(\*\)/.test(statement));
  expect(rows).toHaveLength(1);
  const [[statement, values] = ['', []]] = rows;
  return buffersOf(store, accountId, statement, values);
}

const instant = new Date(Date.UTC(2026, 0, 1) + (ROWS - 20_000) * 60_000).toISOString().replace('Z', '000Z');
const deep = {
  changes: () => writeCursor(cursorMark(`changes of ${connectionId}`, accountId), [instant, 0]),
  fleetChanges: () => writeCursor(cursorMark('fleet changes', accountId), [instant, 0]),
  alerts: () => writeCursor(cursorMark('alerts', accountId), [instant, 0]),
  measures: () => writeCursor(cursorMark('fleet measures', accountId), [connectionId + 1_000, 1]),
  chosen: () => writeCursor(cursorMark('tickets', accountId), [ROWS - 20_000]),
  latest: () => writeCursor(cursorMark('latest ticket updates', accountId), [ROWS - 20_000]),
  updates: () => writeCursor(cursorMark('ticket updates', accountId), [20_000]),
};

test.each<[string, Endpoint, Record<string, string>, Record<string, () => string>]>([
  ['the changes of a connection', changes, {}, { after: deep.changes }],
  ['the changes of all', fleetChanges, {}, { after: deep.fleetChanges }],
  ['alerts', alerts, {}, { after: deep.alerts }],
  ['a metric of all connections', fleetMeasures, { metric: 'table_bytes' }, { after: deep.measures }],
  ['the tickets of a check', tickets, { check_id: 'PG_1' }, { after: deep.chosen }],
  ['the latest changes of tickets', tickets, { updated_since: '2026-01-01' }, { after: deep.latest }],
  ['a mirror of tickets', tickets, { order: 'asc' }, { after_update: deep.updates }],
])('a deep page of %s costs about as much as the first', async (_, endpoint, asked, cursor) => {
  const first = await buffersOfPage(endpoint, { ...asked, per_page: '50' });
  const after = Object.fromEntries(Object.entries(cursor).map(([name, make]) => [name, make()]));
  const last = await buffersOfPage(endpoint, { ...asked, ...after, per_page: '50' });
  // The 20,000 rows before the page are in some 300 buffers.
  expect(last).toBeLessThanOrEqual(1.5 * first);
  expect(last).toBeLessThan(800);
});

test('an account with few changes reads its own beside one with many, by the plan that is kept for all accounts', async () => {
  const few = await store.account();
  const root = await store.superuser('store');
  await root.query(
    `insert into connection_change (account_id, connection_id, at, kind, subject)
     select $1, $2, timestamptz '2025-12-01Z' + n * interval '1 min', 'setting', n from generate_series(1, 60) n`,
    [few, await store.connection(few)],
  );
  await root.query('vacuum (analyze) connection_change');
  const [[statement, values] = ['', []]] = await recordStatements(fleetChanges, {});
  // The changes of the other account are in some 400 buffers.
  expect(await keptPlanBuffers(store, few, statement, values.with(0, few))).toBeLessThan(100);
});

/** All buffers of a page that is asked for by its number. */
async function buffersOfNumber(endpoint: Endpoint, page: number, per_page = 50): Promise<number> {
  const asked = { from: '2026-01-01', to: '2026-01-15', page: String(page), per_page: String(per_page) };
  const [[statement, values] = ['', []], ...others] = await recordStatements(endpoint, asked);
  expect(others).toEqual([]);
  return buffersOf(store, accountId, statement, values);
}

const DEPTHS = [1, 20, 40];

test('every page of episodes touches the rows that it has, and the keys of the 2,000 that are kept', async () => {
  const [first = 0, ...deeper] = await Promise.all(DEPTHS.map((page) => buffersOfNumber(episodes, page)));
  for (const buffers of deeper) expect(Math.abs(buffers - first)).toBeLessThan(10);
  // Three for each row, and the leaves of two primary keys. Reading all rows that are kept took 268 for a page of any size.
  expect(first).toBeLessThan(200);
  expect(await buffersOfNumber(episodes, 1, 1)).toBeLessThan(45);
  expect(await buffersOfNumber(episodes, 1_999, 1)).toBeLessThan(45);
});

test('every page of queries costs what its range costs: their order is that of sums over it', async () => {
  const [first = 0, ...deeper] = await Promise.all(DEPTHS.map((page) => buffersOfNumber(queries, page)));
  for (const buffers of deeper) expect(Math.abs(buffers - first)).toBeLessThan(10);
  // All that is kept of a connection: 14 days of 50 queries in each hour.
  expect(first).toBeLessThan(800);
});

test('pages of episodes are the whole list in its order, with ties, from end to end', async () => {
  const asked = { from: '2026-01-01', to: '2026-01-15', per_page: '100' };
  const read: string[] = [];
  for (let page = 1; page <= 21; page += 1) {
    const { body } = await askEndpoint(reader, episodes, accountId, {
      id: connectionId,
      asked: new URLSearchParams({ ...asked, page: String(page) }).toString(),
    });
    expect(body.meta).toMatchObject({ total: 2 * KEPT, page });
    for (const { kind, began_at, most_sessions, transactions } of body.data) {
      expect([most_sessions, transactions.length]).toEqual(kind === 'blocking' ? [1, 0] : [1, 1]);
      read.push(`${began_at} ${kind}`);
    }
  }
  expect(read).toHaveLength(2 * KEPT);
  // The newest first, and those of one time by their kinds.
  const sorted = read.toSorted((a, b) => {
    const [[at = '', kind = ''], [otherAt = '', other = '']] = [a.split(' '), b.split(' ')];
    return otherAt.localeCompare(at) || kind.localeCompare(other);
  });
  expect(read).toEqual(sorted);
});
