import { afterAll, beforeAll, expect, test } from 'vitest';
import { buffersOf } from '../../../test/support/buffers.ts';
import { parsedQuery } from '../../../test/support/parsed-query.ts';
import { startTestStore, type TestStore } from '../../../test/support/store.ts';
import { openPool } from '../../store/connect.ts';
import { type Read, readAs } from '../../store/read.ts';
import { askEndpoint } from './ask-fixture.ts';
import { stats } from './stats.ts';
import { tickets } from './tickets.ts';

let store: TestStore;

// The planner has only the statistics that the test collects.
beforeAll(async () => {
  store = await startTestStore({ autovacuum: 'off' });
});
afterAll(() => store.stop());

// One of a thousand is critical: so rare that a page of them spans all blocks.
const insertTickets = `
  insert into ticket (account_id, connection_id, check_id, object, category, title, severity, status, metric_line,
                      remediation, first_seen_at, last_seen_at, resolved_at, number, connection_number)
  select $1, ($2::bigint[])[1 + n % 4], 'PG_TEST', n, 'schema', 'Test', severity, status, repeat('m', 90),
         repeat('r', 90), at, at, case when status = 'resolved' then at + interval '1 h' end, n, (n + 3) / 4
    from generate_series($3::bigint, $4::bigint) n,
         lateral (select timestamptz '2026-01-01Z' + n * interval '1 s' as at,
                         case when n % 1000 = 500 then 'critical' when hashint8(n) % 3 = 0 then 'warning' else 'info' end
                           as severity,
                         case when hashint8(n + 1) % 10 = 0 then 'open' else 'resolved' end as status) s
   order by n`;

// One of seven, spread over the whole table.
const turnTickets = `
  update ticket
     set status = 'resolved', resolved_at = coalesce(resolved_at, now()),
         severity = case severity when 'info' then 'warning' else severity end
   where account_id = $1 and hashint8(number + 2) % 7 = 0`;

const neverAnalyzed = `
  delete from pg_statistic where starelid in (select oid from pg_class where relname like 'ticket%');
  update pg_class set reltuples = -1, relpages = 0, relallvisible = 0 where relname like 'ticket%'`;

const at = (n: number) => new Date(Date.parse('2026-01-01T00:00:00Z') + n * 1000).toISOString();

/** Every combination of filters on a list of `size` tickets. */
function questions(size: number, connectionId: number): Record<string, string>[] {
  const ranges = [{}, { from: at(size / 5), to: at((size * 4) / 5) }];
  const some = <T>(name: string, values: T[]) => [{}, ...values.map((value) => ({ [name]: value }))];
  return some('status', ['open', 'resolved']).flatMap((status) =>
    some('severity', ['critical', 'warning', 'info']).flatMap((severity) =>
      some('connection_id', [String(connectionId)]).flatMap((connection) =>
        ranges.map((range): Record<string, string> => ({ ...status, ...severity, ...connection, ...range })),
      ),
    ),
  );
}

/**
 * The most buffers that one request on the account takes, with all its statements, and which request it is: the
 * first, a middle, the last page and the page past the end, with any filters, and the statistics.
 */
async function most(accountId: number, size: number, connectionId: number) {
  const reader = openPool(store.address, 'reader', { max: 1, pipeline: true });
  let worst = { buffers: 0, query: {} };
  const measured = async <T>(query: object, answer: (read: Read) => Promise<T>): Promise<T> => {
    const asked: [string, unknown[]][] = [];
    const { result } = await readAs(reader, accountId, (read) =>
      answer((statement, values) => {
        asked.push([statement, values]);
        return read(statement, values);
      }),
    );
    let buffers = 0;
    for (const [statement, values] of asked) buffers += await buffersOf(store, accountId, statement, values);
    if (buffers > worst.buffers) worst = { buffers, query };
    return result;
  };
  const request = { accountId, id: '', url: 'http://localhost/api/v1/ops/tickets' };
  const pageOf = (filters: Record<string, string>, page: number) => {
    const query = { ...filters, per_page: '100', page: String(page) };
    return measured(query, (read) =>
      tickets.answer(read, { ...request, query: parsedQuery(tickets, query) }),
    );
  };
  for (const filters of questions(size, connectionId)) {
    const { body } = await pageOf(filters, 1);
    const pages = Math.ceil(body.meta.total / 100);
    for (const page of [Math.ceil(pages / 2), pages, pages + 1]) {
      if (page > 1) await pageOf(filters, page);
    }
  }
  await measured({}, (read) => stats.answer(read, { ...request, query: {} }));
  await reader.end();
  return worst;
}

// A block is read four times, for both ends of the dates and of the page: 256 tickets, each on its own page at worst,
// after about 60 buffers of the tally and its index. Finding the dates takes 2 × 18 probes of 4 buffers. The page has
// 100 tickets, each with the name of its connection. Measured: up to 1,110, at both sizes.
const MOST = 2_000;

test('any page of tickets with any filters, and the statistics, touch no more buffers with 100,000 tickets than with 1,000', async () => {
  const accountId = await store.account();
  const connections: number[] = [];
  for (let n = 0; n < 4; n++) connections.push(await store.connection(accountId));
  const [, connectionId = 0] = connections;
  const add = (from: number, upto: number) =>
    store.writer.query(insertTickets, [accountId, connections, from, upto]);
  const root = await store.superuser('store');
  const holds = async (size: number) => {
    const { buffers, query } = await most(accountId, size, connectionId);
    expect(buffers, JSON.stringify(query)).toBeLessThan(MOST);
  };

  await add(1, 1_000);
  await holds(1_000);
  await root.query('analyze');
  for (let n = 1_000; n < 100_000; n += 19_800) await add(n + 1, n + 19_800);
  await holds(100_000); // the planner has statistics of only the first thousand
  await store.writer.query(turnTickets, [accountId]);
  await root.query(neverAnalyzed);
  await holds(100_000); // the planner has none, and rows are not stored in the order of their positions
  await root.query('vacuum analyze');
  await holds(100_000);

  // What has no tallies is neither counted nor reached without end.
  const reader = openPool(store.address, 'reader', { max: 1, pipeline: true });
  const ask = (asked: string) => askEndpoint(reader, tickets, accountId, { asked });
  const { body, next } = await ask('check_id=PG_TEST&per_page=100&page=100');
  expect([body.data.length, body.data[0].id, body.meta]).toEqual([
    100,
    expect.any(Number),
    { total: 10_001, page: 100, per_page: 100, has_more: true },
  ]);
  expect((await ask(next?.toString() ?? '')).body).toMatchObject({
    data: { length: 100, 0: { id: body.data[99].id - 1 } },
    meta: { page: 101, has_more: true },
  });
  expect((await ask('check_id=PG_TEST&per_page=100&page=101')).error?.parameter).toBe('page');
  expect((await ask('check_id=PG_OTHER&page=900')).body.meta.total).toBe(0);
  await reader.end();
});
