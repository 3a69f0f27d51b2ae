import { createServer } from 'node:http';
import { openPool } from '../../src/store/connect.ts';
import { openStore } from '../../src/store/open.ts';
import { tellPort } from '../tell-port.ts';
import { findPlainRead } from './plain-numbers.ts';
import { plainEntries, plainStatistics } from './plain-sql.ts';

// A rival: the plainest server of the same rows. node:http, a pool of 10, one named select, JSON.stringify. It checks no key,
// records nothing, keeps no answer, and tells no true total of the log. `account` in the query is whose rows it reads.

interface EntryRow {
  [column: string]: unknown;
  /** How many rows the list has; absent = unknown, or as many as were read. */
  total?: number | undefined;
  occurred_at: Date;
}

const store = await openStore(
  { databaseUrl: null, dataDir: process.env['DBVITALS_DATA_DIR'] ?? '' },
  () => {},
  'use',
);
const pool = openPool(store.address, 'writer', { max: 10 });
// Otherwise PostgreSQL plans the empty page anew each time, which costs it three times as much as the page.
pool.on('connect', (client) => void client.query('set plan_cache_mode = force_generic_plan').catch(() => {}));

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1');
  const body = JSON.stringify(
    pathname === '/repeat' ? await repeat(searchParams) : await answer(pathname, searchParams),
  );
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => tellPort(server));
process.once('SIGTERM', async () => {
  server.close();
  await pool.end();
  await store.close();
});

async function answer(path: string, query: URLSearchParams) {
  const rows: EntryRow[] = await select(path, query);
  if (path === '/api/v1/ops/stats') return { data: rows[0] };
  const perPage = Number(query.get('per_page') ?? rows.length);
  const toItem = findPlainRead(path.replace('/api/v1', ''), query)?.shape ?? shape;
  const total = rows[0]?.total;
  if (total !== undefined) for (const row of rows) row.total = undefined; // JSON leaves it out
  const hasMore = total === undefined ? rows.length === Number(query.get('per_page')) : total > perPage;
  return {
    data: rows.map(toItem),
    meta: { total: total ?? rows.length, page: 1, per_page: perPage, has_more: hasMore },
  };
}

async function select(path: string, query: URLSearchParams): Promise<EntryRow[]> {
  const account = query.get('account');
  if (path === '/api/v1/ops/stats') return run('statistics', plainStatistics, [account]);
  const plain = findPlainRead(path.replace('/api/v1', ''), query);
  if (plain) return run(plain.name, plain.text, plain.values);
  const values = [account, query.get('after_id') ?? 0, query.get('per_page')];
  const order = query.get('order') === 'asc' ? 'asc' : 'desc';
  return run(order, plainEntries(order), values);
}

async function run(name: string, text: string, values: unknown[]): Promise<EntryRow[]> {
  return (await pool.query<EntryRow>({ name, text, values })).rows;
}

function shape(row: EntryRow): object {
  const { id, action_type, page_path, properties, occurred_at, ...request } = row;
  const { method, status, error_code, query, request_id, api_key_id, api_key_name, source_ip, user_agent } =
    request;
  return {
    id,
    action_type,
    page_path,
    properties: properties ?? {
      method,
      status,
      error_code,
      query: query ?? {},
      request_id,
      api_key_id,
      api_key_name,
      source_ip,
      user_agent,
    },
    occurred_at: occurred_at.toISOString(),
  };
}

/** Selects the rows of `path` for some seconds, `at_a_time` at a time, without HTTP. Returns how often. */
async function repeat(of: URLSearchParams): Promise<{ answers: number }> {
  const { pathname, searchParams } = new URL(of.get('path') ?? '', 'http://127.0.0.1');
  const end = performance.now() + Number(of.get('seconds')) * 1000;
  let answers = 0;
  const keepSelecting = async () => {
    for (; performance.now() < end; answers += 1) await select(pathname, searchParams);
  };
  await Promise.all(Array.from({ length: Number(of.get('at_a_time')) }, keepSelecting));
  return { answers };
}
