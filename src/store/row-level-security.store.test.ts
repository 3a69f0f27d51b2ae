import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandJson } from '../../test/contract/command.ts';
import { writeAlerts } from '../../test/support/console-alerts.ts';
import { parsedQuery } from '../../test/support/parsed-query.ts';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { ENDPOINTS } from '../api/app.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { Rejection } from '../platform/rejection.ts';
import { listMeasures } from '../runs/measures/list-measures.ts';
import { measure, writeRuns } from '../runs/measures/measures-fixture.ts';
import { readHistory } from '../runs/measures/read-history.ts';
import { rollUp } from '../runs/measures/roll-up.ts';
import { prepareMeasures, storeMeasures } from '../runs/measures/store-measures.ts';
import { inTransaction, openPool } from './connect.ts';
import { type Read, readAs } from './read.ts';

let store: TestStore;
let reader: ReturnType<typeof openPool>;
const accounts: number[] = [];
/** One connection of each account. */
const connections = new Map<number | undefined, number>();

beforeAll(async () => {
  store = await startTestStore();
  reader = openPool(store.address, 'reader', { max: 2, pipeline: true });
  const [{ host, user, password, database } = {}] = store.address;
  const environment = {
    DATABASE_URL: `postgres://${user}:${password}@${encodeURIComponent(host ?? '')}/${database}`,
    DBVITALS_SECRET_KEY: '5e'.repeat(32),
  };
  for (const name of ['one', 'two', 'three']) {
    const { id } = await commandJson<{ id: number }>(
      ['account', 'create', '--name', name, '--plan', 'enterprise'],
      { environment },
    );
    const filled = '--activity 300 --connections 4 --tickets 40 --days 9'.split(' ');
    await commandJson(['sample-data', '--account', String(id), '--seed', String(id), ...filled], {
      environment,
    });
    const member = ['--name', name, '--email', `${name}@example.com`, '--role', 'viewer'];
    await commandJson(['member', 'add', '--account', String(id), ...member], { environment });
    accounts.push(id);
    const own = await store.writer.query(
      'select max(connection_id) as id from connection where account_id = $1',
      [id],
    );
    connections.set(id, own.rows[0].id);
    await writeAlerts(store.writer, { accountId: id, connectionId: own.rows[0].id });
  }
  await commandJson(['activity', 'seal'], { environment });
});

afterAll(async () => {
  await reader.end();
  await store.stop();
});

/** For each endpoint, the parameters that lead to other statements. `of`: the account whose connection is requested. */
const QUERIES: Record<string, Record<string, string>[]> = {
  '/health/connections/:id/checks/latest': [{ of: 'own' }, { of: 'another' }],
  '/health/connections/:id/measures': [{ of: 'own' }, { of: 'another' }],
  '/health/connections/:id/measures/history': [
    { of: 'own', metric: 'cache_hit_ratio' },
    { of: 'another', metric: 'cache_hit_ratio' },
  ],
  '/health/connections/:id/changes': [{ of: 'own' }, { of: 'another' }],
  '/health/connections/:id/queries': [{ of: 'own' }, { of: 'another' }],
  '/health/connections/:id/episodes': [{ of: 'own' }, { of: 'another' }],
  '/health/measures': [{ metric: 'cache_hit_ratio' }],
  '/ops/alerts': [{}, { status: 'resolved' }],
  '/ops/tickets': [
    {},
    { status: 'open' },
    { severity: 'critical', from: '2020-01-01' },
    { page: '2', per_page: '5' },
  ],
  '/activity': [
    {},
    { action_type: 'ticket_opened' },
    { action_type: 'api_request', order: 'asc', after_id: '3' },
    { from: '2020-01-01', to: '2090-01-01', page: '2', per_page: '5' },
  ],
};

type Request = [path: string, query: Record<string, string>, endpoint: Endpoint];

const asked = ENDPOINTS.flatMap((endpoint) =>
  (QUERIES[endpoint.path] ?? [{}]).map((query): Request => [endpoint.path, query, endpoint]),
);

/** The endpoint's answer for an account; `named` false = no statement filters by the account. */
async function answer(
  [path, { of, ...query }, endpoint]: Request,
  accountId: number,
  named: boolean,
): Promise<unknown> {
  let taken = 0;
  const id = connections.get(of === 'another' ? accounts.findLast((each) => each !== accountId) : accountId);
  const { result } = await readAs(reader, accountId, async (read) => {
    const unnamed: Read = (statement, values) => {
      const everywhere = statement.replace(/\b(?:\w+\.)?account_id = \$1\b/g, () => {
        taken++;
        return '$1::bigint is not null';
      });
      expect(everywhere).not.toMatch(/account_id = \$/);
      return read(everywhere, values);
    };
    const url = `http://localhost/api/v1${path}`;
    const request = { accountId, query: parsedQuery(endpoint, query), id: String(id), url };
    return endpoint.answer(named ? read : unnamed, request).catch((error: unknown) => {
      if (!(error instanceof Rejection)) throw error;
      return { body: error.message };
    });
  });
  if (!named && path !== '/team/roles') expect(taken).toBeGreaterThan(0);
  return result.body;
}

// Before the test that opens the policies.
describe('measures', () => {
  const HOURS = [1, 100, 1_000, 3_000];
  let console: ReturnType<typeof openPool>;

  beforeAll(async () => {
    console = openPool(store.address, 'console', { max: 2, pipeline: true });
    const now = Date.now();
    for (const accountId of accounts) {
      // All have the same ids and times, and each another value.
      const connectionId = Number(connections.get(accountId));
      for (const table of ['forecast', 'series', 'run', 'latest', 'hour', 'day', 'rolled']) {
        const sampleData = `delete from measure_${table} where account_id = $1 and connection_id = $2`;
        await store.writer.query(sampleData, [accountId, connectionId]);
      }
      const runs = [80, 60, 40, 20, 3, 2, 1].map((days) => ({
        at: new Date(now - days * 86_400_000 + 60_000),
        values: [accountId],
      }));
      await writeRuns(store, { accountId, connectionId }, runs);
      const prepared = await prepareMeasures(store.writer, { accountId, connectionId }, [
        measure('m1', accountId),
      ]);
      const at = new Date(now).toISOString();
      await inTransaction(store.writer, (client) =>
        storeMeasures(client, { accountId, connectionId, at }, prepared),
      );
    }
    for await (const _ of rollUp(store.writer));
  });
  afterAll(() => console.end());

  /** All that an account reads of a connection; without `account_id` in any statement if `named` is false. */
  async function readAll(accountId: number, connectionId: number, named: boolean): Promise<unknown[]> {
    const { result } = await readAs(console, accountId, async (read) => {
      const own: Read = (statement, values) =>
        read(
          named ? statement : statement.replace(/\b(?:\w+\.)?account_id = \$1\b/g, '$1::bigint is not null'),
          values,
        );
      const range = (hours: number) => ({
        series: [1],
        from: new Date(Date.now() - hours * 3_600_000),
        to: new Date(),
      });
      return [
        await listMeasures(own, accountId, connectionId),
        ...(await Promise.all(HOURS.map((hours) => readHistory(own, accountId, connectionId, range(hours))))),
      ];
    });
    return result;
  }

  test('statements that do not filter by account show an account only its own', async () => {
    for (const accountId of accounts) {
      const own = Number(connections.get(accountId));
      const values = await readAll(accountId, own, false);
      expect(values).toEqual(await readAll(accountId, own, true));
      expect(values[0]).toMatchObject({ measures: [{ value: accountId }] });
      const seen = values.slice(1).flatMap((each) => (each as { last: (number | null)[] }[])[0]?.last ?? []);
      expect(new Set(seen.filter((value) => value !== null))).toEqual(new Set([accountId]));
      expect(seen.length).toBeGreaterThan(8);
    }
  });

  test('an account reads nothing of the connection of another', async () => {
    for (const accountId of accounts) {
      for (const other of accounts.filter((each) => each !== accountId)) {
        for (const named of [true, false]) {
          const [latest, ...histories] = await readAll(accountId, Number(connections.get(other)), named);
          expect(latest).toBeNull();
          expect(JSON.stringify(histories)).not.toMatch(/"last":\[[^\]]/);
        }
      }
    }
  });
});

describe('statements that do not filter by account', () => {
  test.each(asked)('%s %j: give the same answer as with the filter', async (...of) => {
    for (const accountId of accounts) {
      expect(await answer(of, accountId, false)).toEqual(await answer(of, accountId, true));
    }
  });

  test('give another answer without row-level security', async () => {
    const root = await store.superuser('store');
    const { rows } = await root.query(`select tablename from pg_policies where policyname = 'own_account'`);
    for (const { tablename } of rows)
      await root.query(`alter policy own_account on ${tablename} using (true)`);
    const [first = 0] = accounts;
    const same = [];
    for (const of of asked) {
      const told = await answer(of, first, false).catch(() => 'a statement that gives too much');
      if (JSON.stringify(told) === JSON.stringify(await answer(of, first, true))) same.push([of[0], of[1]]);
    }
    expect(same).toEqual([
      ['/health/connections/:id/checks/latest', { of: 'own' }],
      ['/team/roles', {}],
      ['/health/connections/:id/measures', { of: 'own' }],
      ['/health/connections/:id/measures/history', { of: 'own', metric: 'cache_hit_ratio' }],
      ['/health/connections/:id/changes', { of: 'own' }],
      ['/health/connections/:id/episodes', { of: 'own' }],
    ]);
  });
});
