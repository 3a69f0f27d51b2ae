import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStore, type TestStore } from '../../test/support/store.ts';
import { writeLog } from '../../test/support/write-log.ts';
import { openPool } from '../store/connect.ts';
import { readAs } from '../store/read.ts';
import { type EntryFilter, type SearchFrom, searchEntries } from './search-entries.ts';

let store: TestStore;
let reader: ReturnType<typeof openPool>;

beforeAll(async () => {
  store = await startTestStore();
  reader = openPool(store.address, 'console', { max: 1, pipeline: true });
});

afterAll(async () => {
  await reader.end();
  await store.stop();
});

const ANY: EntryFilter = {
  since: null,
  before: null,
  actionType: null,
  memberId: null,
  apiKeyId: null,
  status: null,
  address: null,
  object: null,
};
const ALL: SearchFrom = { order: 'desc', afterId: 0, beforeId: Number.MAX_SAFE_INTEGER, limit: 100 };

const searchOnce = async (accountId: number, filter: Partial<EntryFilter>, from: Partial<SearchFrom> = {}) =>
  (
    await readAs(reader, accountId, (read) =>
      searchEntries(read, accountId, { ...ANY, ...filter }, { ...ALL, ...from }),
    )
  ).result;

/** The ids of all entries that match, over as many searches as it takes. */
async function found(accountId: number, filter: Partial<EntryFilter>, from: Partial<SearchFrom> = {}) {
  const ids: number[] = [];
  let at = from;
  for (;;) {
    const { entries, next, searchedTo } = await searchOnce(accountId, filter, at);
    ids.push(...entries.map((entry): number => JSON.parse(entry).id));
    expect(searchedTo === null).toBe(next === null);
    if (next === null) return ids;
    at = { ...at, ...(from.order === 'asc' ? { afterId: next } : { beforeId: next }) };
  }
}

interface Row {
  request: boolean;
  key: number;
  status: number;
  address: string;
  member: number;
  connection: number;
  path: string;
}

const ADDRESSES = ['192.0.2.7', '192.0.2.200', '198.51.100.1', '2001:db8::7', '2001:db8:1::9'];

/** Writes a log of these rows. Events have the properties that members' changes have. */
async function write(rows: readonly Row[], sources = rows.map(({ address }) => address)): Promise<number> {
  const accountId = await store.account();
  await store.writer.query(
    `insert into activity (account_id, id, occurred_at, action_type, page_path, api_key_id, request_id, status, method,
                           source_ip, event_number, type_number, properties)
     select $1, n, now() - make_interval(secs => cardinality($2::boolean[]) - n), case when request then 'api_request' else 'connection_changed' end, path,
            case when request then key end, case when request then gen_random_uuid() end, case when request then status end,
            case when request then 'GET' end, case when request then address::inet end,
            case when not request then events end, case when not request then events end,
            case when not request then jsonb_build_object('connection_id', connection, 'source_ip', source, 'api_key_id', key) ||
              case when path = '/sign-in' then jsonb_build_object('member_id', member)
                   else jsonb_build_object('actor_member_id', member) end end
       from (select *, count(*) filter (where not request) over (order by n) as events
               from unnest($2::boolean[], $3::bigint[], $4::smallint[], $5::text[], $6::bigint[], $7::bigint[], $8::text[], $9::text[])
                    with ordinality as r (request, key, status, address, member, connection, path, source, n)) r`,
    [
      accountId,
      rows.map(({ request }) => request),
      rows.map(({ key }) => key),
      rows.map(({ status }) => status),
      rows.map(({ request, address }) => (request ? address : null)),
      rows.map(({ member }) => member),
      rows.map(({ connection }) => connection),
      rows.map(({ path }) => path),
      sources,
    ],
  );
  await store.writer.query(
    'update activity_head set last_id = $2, events = $3, last_at = now() where account_id = $1',
    [accountId, rows.length, rows.filter(({ request }) => !request).length],
  );
  return accountId;
}

const anyRow = fc.record({
  request: fc.boolean(),
  key: fc.integer({ min: 1, max: 3 }),
  status: fc.constantFrom(200, 204, 401, 404, 429, 500),
  address: fc.constantFrom(...ADDRESSES),
  member: fc.integer({ min: 1, max: 3 }),
  connection: fc.integer({ min: 1, max: 3 }),
  path: fc.constantFrom('/team', '/sign-in'),
});

const anyFilter = fc.record({
  actionType: fc.constantFrom(null, null, 'api_request', 'connection_changed', 'no_such_type'),
  memberId: fc.constantFrom(null, null, 2),
  apiKeyId: fc.constantFrom(null, null, 2),
  status: fc.constantFrom(null, null, [404, 404] as const, [400, 499] as const),
  address: fc.constantFrom(
    null,
    null,
    '192.0.2.7',
    '192.0.2.0/24',
    '2001:db8::/48',
    '2001:db8:1::9',
    '0.0.0.0/0',
  ),
  object: fc.constantFrom(null, null, ['connection_id', 3] as const),
});

const NETWORKS: Record<string, (address: string) => boolean> = {
  '192.0.2.0/24': (address) => address.startsWith('192.0.2.'),
  '2001:db8::/48': (address) => address.startsWith('2001:db8::'),
  '0.0.0.0/0': (address) => !address.includes(':'),
};

function matches(
  row: Row,
  { actionType, memberId, apiKeyId, status, address, object }: Omit<EntryFilter, 'since' | 'before'>,
) {
  const type = row.request ? 'api_request' : 'connection_changed';
  return (
    (actionType === null || actionType === type) &&
    (memberId === null || (!row.request && row.member === memberId)) &&
    (apiKeyId === null || row.key === apiKeyId) &&
    (status === null || (row.request && row.status >= status[0] && row.status <= status[1])) &&
    (address === null || (NETWORKS[address]?.(row.address) ?? row.address === address)) &&
    (object === null || (!row.request && row.connection === object[1]))
  );
}

test('a search finds exactly the entries that match all filters, in both orders, over pages of any size', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyRow, { minLength: 1, maxLength: 40 }),
      fc.array(anyFilter, { minLength: 6, maxLength: 6 }),
      fc.integer({ min: 1, max: 7 }),
      async (rows, filters, limit) => {
        const accountId = await write(rows);
        for (const filter of filters) {
          const expected = rows.flatMap((row, place) => (matches(row, filter) ? [place + 1] : []));
          expect(await found(accountId, filter, { order: 'asc', limit })).toEqual(expected);
          expect(await found(accountId, filter, { limit })).toEqual(expected.toReversed());
        }
      },
    ),
    { numRuns: 40 },
  );
});

test('text that is no address, as a proxy may pass it on, matches no network and fails no search', async () => {
  const hostile = [
    'unknown',
    '',
    '1.2.3',
    '999.1.1.1',
    ':::',
    '1:2:3:4:5:6:7:8:9',
    '::1%eth0',
    "'; select 1",
    '192.0.2.7',
  ];
  const row = { request: false, key: 1, status: 200, address: '', member: 1, connection: 1, path: '/team' };
  const accountId = await write(
    hostile.map(() => row),
    hostile,
  );
  expect(await found(accountId, { address: '0.0.0.0/0' })).toEqual([hostile.length]);
  expect(await found(accountId, { address: '::/0' })).toEqual([]);
});

test('entries of other accounts, and outside the range, are never found', async () => {
  const row = {
    request: true,
    key: 1,
    status: 200,
    address: '192.0.2.7',
    member: 1,
    connection: 1,
    path: '/x',
  };
  const rows = Array.from({ length: 10 }, () => row);
  const [mine, other] = [await write(rows), await write(rows)];
  expect(await found(mine, { apiKeyId: 1 })).toHaveLength(10);
  // Row-level security, as the other account's reader.
  const { result } = await readAs(reader, other, (read) =>
    searchEntries(read, mine, ANY, ALL).catch(() => null),
  );
  expect(result).toBeNull();
  const { rows: times } = await store.writer.query<{ at: string }>(
    'select occurred_at::text as at from activity where account_id = $1 and id in (4, 8) order by id',
    [mine],
  );
  const [since, before] = times.map(({ at }) => at);
  expect(await found(mine, { since: since ?? null, before: before ?? null })).toEqual([7, 6, 5, 4]);
});

test('a long log is searched in steps: a search says how far it came, and the next one goes on there', async () => {
  const accountId = await writeLog(store, { length: 200_000, rare: 'event', days: 10 });
  const owner = await store.superuser('store');
  await owner.query('update activity set status = 503 where account_id = $1 and id in (7, 99999)', [
    accountId,
  ]);
  expect(await found(accountId, { status: [500, 599] })).toEqual([99_999, 7]);
  expect(await found(accountId, { status: [500, 599] }, { order: 'asc' })).toEqual([7, 99_999]);
  const first = await searchOnce(accountId, { actionType: 'api_request' }, { limit: 5 });
  expect(first.entries).toHaveLength(5);
  expect(first.next).toBe(JSON.parse(first.entries[4] ?? '').id);
  // The entries name their key.
  expect(JSON.parse(first.entries[0] ?? '').properties.api_key_name).toMatch(/^key \d+$/);
});
