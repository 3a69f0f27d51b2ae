import { afterAll, beforeAll, expect, test } from 'vitest';
import { buffersOf } from '../../../../test/support/buffers.ts';
import { startTestStore, type TestStore } from '../../../../test/support/store.ts';
import { checkQuery } from '../../../http/edge/parameters.ts';
import type { Endpoint } from '../../../http/endpoint.ts';
import { cursorMark, writeCursor } from '../../../http/keyset.ts';
import { openPool } from '../../../store/connect.ts';
import { type Read, readAs } from '../../../store/read.ts';
import { fleetMeasures } from '../measures/fleet-latest.ts';
import { tickets } from '../tickets.ts';
import { alerts } from './alerts.ts';
import { changes, fleetChanges } from './changes.ts';

const ROWS = 30_000;

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
  await root.query('vacuum (analyze)');
});

afterAll(async () => {
  await reader.end();
  await store.stop();
});

/** The buffers of the statement that reads the page's rows. */
async function buffersOfPage(endpoint: Endpoint, asked: Record<string, string>): Promise<number> {
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
  const rows = statements.filter(
    ([statement]) => /\blimit\b/.test(statement) && !/count\(\*\)/.test(statement),
  );
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
  // Reading the rows before the page would cost thousands.
  expect(last).toBeLessThanOrEqual(2 * first + 300);
  expect(last).toBeLessThan(800);
});
