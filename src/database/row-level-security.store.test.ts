import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandJson } from '../../test/contract/command.ts';
import { parsedQuery } from '../../test/parsed-query.ts';
import { startTestStore, type TestStore } from '../../test/store.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { ApiError } from '../http/errors.ts';
import { ENDPOINTS } from '../server/app.ts';
import { openPool } from './connect.ts';
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
  }
});

afterAll(async () => {
  await reader.end();
  await store.stop();
});

/** For each endpoint, the parameters that lead to other statements. `of`: the account whose connection is requested. */
const QUERIES: Record<string, Record<string, string>[]> = {
  '/health/connections/:id/checks/latest': [{ of: 'own' }, { of: 'another' }],
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
      if (!(error instanceof ApiError)) throw error;
      return { body: error.message };
    });
  });
  if (!named && path !== '/team/roles') expect(taken).toBeGreaterThan(0);
  return result.body;
}

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
    ]);
  });
});
