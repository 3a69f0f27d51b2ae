import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cutLogs } from '../../../test/support/cut-logs.ts';
import { parsedQuery } from '../../../test/support/parsed-query.ts';
import { countValues } from '../../../test/support/rotation.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openPool } from '../../store/connect.ts';
import { readAs } from '../../store/read.ts';
import { entries } from './entries.ts';

let store: TestStore;
let reader: ReturnType<typeof openPool>;
let owner: ReturnType<typeof openPool>;

beforeAll(async () => {
  store = await startTestStore();
  reader = openPool(store.address, 'reader', { max: 2, pipeline: true });
  owner = openPool(store.address, 'owner', { max: 1 });
});

afterAll(async () => {
  await Promise.all([reader.end(), owner.end()]);
  await store.stop();
});

const TYPES = ['api_request', 'ticket_opened', 'health_check_completed'] as const;

/** Entry `n` of a log. The first `old` entries are from two days ago, the rest from an hour ago, one second apart. */
const timeOf = (n: number, old: number, now: number) => now - (n <= old ? 48 : 1) * 3_600_000 + n * 1_000;

/** Appends entries of the given types to a log, with numbers and times like those of the gate and `changeAccount`. */
async function append(accountId: number, types: readonly string[], at: (n: number) => number): Promise<void> {
  const { rows } = await store.writer.query<{
    last_id: number;
    events: number;
    numbers: Record<string, number>;
  }>(
    `select last_id, events, (select coalesce(jsonb_object_agg(action_type, last_number), '{}')
                                from activity_type_head where account_id = $1) as numbers
       from activity_head where account_id = $1`,
    [accountId],
  );
  let { last_id, events, numbers } = rows[0] ?? { last_id: 0, events: 0, numbers: {} };
  const entries = types.map((type) => {
    last_id += 1;
    const time = new Date(at(last_id)).toISOString();
    if (type === 'api_request') return { id: last_id, type, time, event_number: null, type_number: null };
    events += 1;
    const type_number = (numbers[type] ?? 0) + 1;
    numbers[type] = type_number;
    return { id: last_id, type, time, event_number: events, type_number };
  });
  await store.writer.query(
    `insert into activity (account_id, id, occurred_at, action_type, page_path, event_number, type_number, properties)
     select $1, id, time, type, '/', event_number, type_number, '{}'
       from jsonb_to_recordset($2)
         as r (id bigint, time timestamptz, type text, event_number bigint, type_number bigint)`,
    [accountId, JSON.stringify(entries)],
  );
  await store.writer.query(
    'update activity_head set last_id = $2, events = $3, last_at = $4 where account_id = $1',
    [accountId, last_id, events, new Date(at(last_id)).toISOString()],
  );
  await store.writer.query(
    `insert into activity_type_head select $1, key, value::bigint from jsonb_each_text($2)
     on conflict (account_id, action_type) do update set last_number = excluded.last_number`,
    [accountId, JSON.stringify(numbers)],
  );
}

async function writeLog(types: readonly string[]): Promise<number> {
  const accountId = await store.account();
  await append(accountId, types, (n) => timeOf(n, 0, Date.now()));
  return accountId;
}

async function ask(accountId: number, query: Record<string, string | string[]>) {
  const request = {
    accountId,
    query: parsedQuery(entries, query),
    id: '',
    url: 'http://localhost/api/v1/activity',
  };
  const { result } = await readAs(reader, accountId, (read) => entries.answer(read, request));
  return { ids: result.body.data.map(({ id }) => id), total: result.body.meta.total };
}

describe('a page of the log', () => {
  const query = fc.record(
    {
      action_type: fc.oneof(
        fc.constantFrom(...TYPES, 'never_seen').map((type) => [type]),
        fc.array(fc.constantFrom(...TYPES, 'never_seen'), { minLength: 1, maxLength: 4 }),
      ),
      exclude_action_type: fc.array(fc.constantFrom(...TYPES, 'never_seen'), { minLength: 1, maxLength: 3 }),
      order: fc.constantFrom('asc', 'desc'),
      after_id: fc.integer({ min: 0, max: 25 }),
      from: fc.integer({ min: -2, max: 25 }),
      to: fc.integer({ min: 8, max: 45 }),
      page: fc.constantFrom(1, 1, 2, 3),
      per_page: fc.integer({ min: 4, max: 20 }),
    },
    { requiredKeys: [] },
  );

  test('equals filtering, sorting and slicing the whole log, pruned or not', async () => {
    const log = fc.array(fc.constantFrom(...TYPES), { maxLength: 40, size: 'max' });
    await fc.assert(
      fc.asyncProperty(
        log,
        fc.nat(15),
        fc.nat(40),
        fc.array(query, { minLength: 5, maxLength: 5 }),
        async (types, gone, later, asked) => {
          const old = Math.min(gone, types.length);
          const now = Date.now();
          const at = (n: number) => timeOf(n, old, now);
          const accountId = await store.account();
          const whenCut = Math.max(old, Math.min(later, types.length));
          await append(accountId, types.slice(0, whenCut), at);
          await cutLogs(store, owner, 1);
          await append(accountId, types.slice(whenCut), at);
          for (const { from, to, ...rest } of asked) {
            if (from !== undefined && to !== undefined && from > to) continue;
            const {
              action_type,
              exclude_action_type,
              after_id = 0,
              order = 'desc',
              page = 1,
              per_page = 50,
            } = rest;
            const chosen = types
              .map((type, n) => ({ type, id: n + 1 }))
              .filter(({ id }) => id > old && id > after_id)
              .filter(({ id }) => (from === undefined || id >= from) && (to === undefined || id <= to))
              .filter(({ type }) => action_type === undefined || action_type.includes(type))
              .filter(({ type }) => !exclude_action_type?.includes(type))
              .map(({ id }) => id);
            if (order === 'desc') chosen.reverse();
            const texts = Object.entries(rest).map(
              ([name, value]) => [name, Array.isArray(value) ? value : String(value)] as const,
            );
            const answer = await ask(accountId, {
              ...Object.fromEntries(texts),
              ...(from === undefined ? {} : { from: new Date(at(from)).toISOString() }),
              ...(to === undefined ? {} : { to: new Date(at(to)).toISOString() }),
            });
            const expected = {
              ids: chosen.slice((page - 1) * per_page, page * per_page),
              total: chosen.length,
            };
            expect(answer, JSON.stringify({ types, old, whenCut, from, to, ...rest })).toEqual(expected);
          }
        },
      ),
      { numRuns: countValues(200) },
    );
  });

  test('of an empty log is read once', async () => {
    const accountId = await store.account();
    const request = { accountId, query: {}, id: '', url: 'http://localhost/api/v1/activity' };
    let reads = 0;
    const { result } = await readAs(reader, accountId, (read) =>
      entries.answer((statement, values) => {
        reads += 1;
        return read(statement, values);
      }, request),
    );
    expect(result.body).toMatchObject({ data: [], meta: { total: 0 } });
    expect(reads).toBe(1);
  });

  test('names who did what on request, and nothing else changes', async () => {
    const accountId = await writeLog(['api_request', 'ticket_opened', 'health_check_completed']);
    const read = async (query: Record<string, string>) => {
      const request = {
        accountId,
        query: parsedQuery(entries, query),
        id: '',
        url: 'http://localhost/api/v1/activity',
      };
      const { result } = await readAs(reader, accountId, (run) => entries.answer(run, request));
      return result.body.data;
    };
    const plain = await read({});
    const named = await read({ include: 'actor' });
    expect(named.map(({ actor, target, outcome, source, ...entry }) => entry)).toEqual(plain);
    expect(named.map(({ actor, outcome }) => [actor?.type, outcome])).toEqual([
      ['service', 'success'],
      ['service', 'success'],
      ['api_key', 'success'],
    ]);
  });

  test('is empty past the end, however far', async () => {
    const accountId = await writeLog(['api_request', 'ticket_opened']);
    expect(await ask(accountId, { page: '9'.repeat(400) })).toEqual({ ids: [], total: 2 });
    expect(await ask(accountId, { after_id: '9'.repeat(400) })).toEqual({ ids: [], total: 0 });
  });
});

test('the reader role can’t see another account, even if a query omits the account', async () => {
  const mine = await writeLog(['api_request']);
  const other = await writeLog(['ticket_opened', 'api_request']);
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
