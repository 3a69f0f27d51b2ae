import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/store.ts';
import { openPool } from '../database/connect.ts';
import { readAs } from '../database/read.ts';
import { entries } from './entries.ts';

let store: TestStore;
let reader: ReturnType<typeof openPool>;

beforeAll(async () => {
  store = await startTestStore();
  reader = openPool(store.address, 'reader', { max: 2, pipeline: true });
});

afterAll(async () => {
  await reader.end();
  await store.stop();
});

const TYPES = ['api_request', 'ticket_opened', 'health_check_completed'] as const;

/** A log of so many entries of the given types, a second apart from 2026-01-01 on; the first `pruned` are gone. */
async function writeLog(types: readonly string[], pruned: number): Promise<number> {
  const accountId = await store.account();
  const numbers = new Map<string, number>();
  let events = 0;
  const rows = types.map((type, n) => {
    const number = (numbers.get(type) ?? 0) + 1;
    numbers.set(type, number);
    if (type !== 'api_request') events += 1;
    const event = type !== 'api_request';
    return { id: n + 1, type, event_number: event ? events : null, type_number: event ? number : null };
  });
  const start = `timestamptz '2026-01-01T00:00:00Z'`;
  await store.writer.query(
    `insert into activity (account_id, id, occurred_at, action_type, page_path, event_number, type_number, properties)
     select $1, id, ${start} + id * interval '1 s', type, '/', event_number, type_number, '{}'
       from jsonb_to_recordset($2) as r (id bigint, type text, event_number bigint, type_number bigint)`,
    [accountId, JSON.stringify(rows.slice(pruned))],
  );
  await store.writer.query(
    `update activity_head set last_id = $2::bigint, events = $3, last_at = ${start} + $2::bigint * interval '1 s' where account_id = $1`,
    [accountId, types.length, events],
  );
  for (const [type, number] of numbers) {
    if (type === 'api_request') continue;
    await store.writer.query('insert into activity_type_head values ($1, $2, $3)', [accountId, type, number]);
  }
  return accountId;
}

const second = (n: number) => new Date(Date.parse('2026-01-01T00:00:00Z') + n * 1000).toISOString();

async function ask(accountId: number, query: Record<string, string>) {
  const request = { accountId, query, id: '', url: 'http://localhost/api/v1/activity' };
  const { result } = await readAs(reader, accountId, (read) => entries.answer(read, request));
  return { ids: result.body.data.map(({ id }) => id), total: result.body.meta.total };
}

describe('a page of the log', () => {
  const query = fc.record(
    {
      action_type: fc.constantFrom(...TYPES, 'never_seen'),
      order: fc.constantFrom('asc', 'desc'),
      after_id: fc.integer({ min: 0, max: 45 }),
      from: fc.integer({ min: -2, max: 45 }),
      to: fc.integer({ min: -2, max: 45 }),
      page: fc.integer({ min: 1, max: 6 }),
      per_page: fc.integer({ min: 1, max: 20 }),
    },
    { requiredKeys: [] },
  );

  test('is what filtering, sorting and slicing the whole log gives, pruned or not', async () => {
    const log = fc.array(fc.constantFrom(...TYPES), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(
        log,
        fc.nat(40),
        fc.array(query, { minLength: 5, maxLength: 5 }),
        async (types, gone, asked) => {
          const pruned = Math.min(gone, types.length);
          const accountId = await writeLog(types, pruned);
          for (const { from, to, ...rest } of asked) {
            if (from !== undefined && to !== undefined && from > to) continue;
            const { action_type, after_id = 0, order = 'desc', page = 1, per_page = 50 } = rest;
            const chosen = types
              .map((type, n) => ({ type, id: n + 1 }))
              .filter(({ id }) => id > pruned && id > after_id)
              .filter(({ id }) => (from === undefined || id >= from) && (to === undefined || id <= to))
              .filter(({ type }) => action_type === undefined || type === action_type)
              .map(({ id }) => id);
            if (order === 'desc') chosen.reverse();
            const texts = Object.entries(rest).map(([name, value]) => [name, String(value)] as const);
            const answer = await ask(accountId, {
              ...Object.fromEntries(texts),
              ...(from === undefined ? {} : { from: second(from) }),
              ...(to === undefined ? {} : { to: second(to) }),
            });
            const expected = {
              ids: chosen.slice((page - 1) * per_page, page * per_page),
              total: chosen.length,
            };
            expect(answer, JSON.stringify({ from, to, ...rest })).toEqual(expected);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  test('past the end is empty, however far', async () => {
    const accountId = await writeLog(['api_request', 'ticket_opened'], 0);
    expect(await ask(accountId, { page: '9'.repeat(400) })).toEqual({ ids: [], total: 2 });
    expect(await ask(accountId, { after_id: '9'.repeat(400) })).toEqual({ ids: [], total: 0 });
  });
});

test('the reader sees nothing of another account, even when a query forgets to name its own', async () => {
  const mine = await writeLog(['api_request'], 0);
  const other = await writeLog(['ticket_opened', 'api_request'], 0);
  const tables = ['account', 'activity', 'activity_head', 'activity_type_head'];
  for (const table of tables) {
    const { result } = await readAs(reader, mine, (read) =>
      read<{ account_id: number }>(`select distinct account_id from ${table}`, []),
    );
    expect(result.map(({ account_id }) => account_id).filter((id) => id !== mine)).toEqual([]);
    const theirs = await readAs(reader, other, (read) => read(`select from ${table}`, []));
    expect(theirs.result.length).toBeGreaterThan(0);
  }
});
