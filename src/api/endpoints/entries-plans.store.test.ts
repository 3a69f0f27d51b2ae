import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buffersOf, tableBuffersOf } from '../../../test/support/buffers.ts';
import { cutLogs } from '../../../test/support/cut-logs.ts';
import { parsedQuery } from '../../../test/support/parsed-query.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { writeLog } from '../../../test/support/write-log.ts';
import { VALUE_SEPARATOR } from '../../activity/positions.sql.ts';
import { openPool } from '../../store/connect.ts';
import { readAs } from '../../store/read.ts';
import { entries } from './entries.ts';

const DAY_MS = 86_400_000;
const LARGE = 100_000;

// One lookup reads 4 buffers at these sizes: three levels of the index and the row. Choosing positions takes two
// bisections of 25 steps for 30 million entries, and a few neighbours. Measured: at most 155.
const PLACES = 2 * 25 * 4 + 40;
// A page of 100: each entry, its key's name and, among requests, its nearest other entry; measured: at most 1,101.
const PAGE = 100 * 3 * 4;

let store: TestStore;
let reader: ReturnType<typeof openPool>;
let owner: ReturnType<typeof openPool>;

beforeAll(async () => {
  // Dead rows remain after pruning: the cost must not depend on a vacuum.
  store = await startTestStore({ autovacuum: 'off' });
  reader = openPool(store.address, 'reader', { max: 1, pipeline: true });
  owner = openPool(store.address, 'owner', { max: 1 });
});

afterAll(async () => {
  await Promise.all([reader.end(), owner.end()]);
  await store.stop();
});

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

/** The statement that the endpoint runs for a query, in both forms, and the total that it returns. */
async function statementsOf(accountId: number, query: Record<string, string>) {
  const statements: { statement: string; values: unknown[] }[] = [];
  // A line too few makes it read the columns.
  const untold = [{ page: ['1', 't', '0', '1', ''].join(VALUE_SEPARATOR) }];
  const request = {
    accountId,
    query: parsedQuery(entries, query),
    id: '',
    url: 'http://localhost/api/v1/activity',
  };
  const { result } = await readAs(reader, accountId, async (read) => {
    await entries.answer(async <Row>(statement: string, values: unknown[]) => {
      const isLines = statements.push({ statement, values }) === 1;
      return isLines ? (untold as Row[]) : read<Row>(statement, values);
    }, request);
    return entries.answer(read, request);
  });
  return { statements, total: result.body.meta.total, shown: result.body.data.length };
}

const filters: Record<string, string>[] = [
  {},
  { order: 'asc' },
  { action_type: 'api_request' },
  { action_type: 'api_request', order: 'asc' },
  { action_type: 'health_check_completed' },
  { action_type: 'health_check_completed', order: 'asc' },
  { action_type: 'never_seen' },
  { from: daysAgo(2) },
  { from: daysAgo(9) },
  { to: daysAgo(1) },
  { to: daysAgo(9) },
  { from: daysAgo(3), to: daysAgo(1), action_type: 'api_request' },
  { from: daysAgo(3), to: daysAgo(1), action_type: 'health_check_completed', order: 'asc' },
];

async function hold(accountId: number, afterId: number): Promise<void> {
  const dear: string[] = [];
  for (const filter of [...filters, { after_id: String(afterId), order: 'asc' }]) {
    const { total } = await statementsOf(accountId, filter);
    const deepest = Math.max(1, Math.ceil(total / 100));
    for (const page of [1, Math.ceil(deepest / 2), deepest, deepest + 1]) {
      const query = { ...filter, page: String(page), per_page: '100' };
      const { statements, shown } = await statementsOf(accountId, query);
      expect(shown > 0, JSON.stringify({ query, total })).toBe(page <= deepest && total > 0);
      expect(statements).toHaveLength(2);
      for (const { statement, values } of statements) {
        const buffers = await buffersOf(store, accountId, statement, values);
        const bound = page > deepest ? PLACES : PLACES + PAGE;
        if (buffers > bound) dear.push(`${buffers} for ${JSON.stringify({ query, total })}`);
      }
    }
  }
  const beyond = { after_id: '999999999', from: daysAgo(3), to: daysAgo(1) };
  for (const query of [
    { after_id: '999999999' },
    beyond,
    { ...beyond, action_type: 'api_request' },
    { ...beyond, action_type: 'never_seen' },
  ]) {
    const { statements } = await statementsOf(accountId, { ...query, order: 'asc' });
    for (const { statement, values } of statements) {
      expect(await tableBuffersOf(store, accountId, statement, values, 'activity')).toBe(0);
    }
  }
  expect(dear).toEqual([]);
}

async function analyze(): Promise<void> {
  await (await store.superuser('store')).query('analyze');
}

describe('a page touches a bounded number of buffers', () => {
  test('in a small log', async () => {
    const accountId = await writeLog(store, { length: 1_000, rare: 'event', days: 10 });
    await analyze();
    await hold(accountId, 500);
  });

  test.each(['event', 'request'] as const)(
    'in a large log where an %s is rare, and when it was cut',
    async (rare) => {
      const accountId = await writeLog(store, { length: LARGE, rare, days: 10 });
      await analyze();
      await hold(accountId, LARGE - 500);
      expect(await cutLogs(store, owner, 4)).toBeGreaterThan(LARGE / 2);
      await hold(accountId, 100);
    },
  );
});
