import type { ConnectionKey } from '../../src/monitor/monitor-deps.ts';
import type { TestStore } from './store.ts';

/** Stores five days of history of queries of the database `shop`: each with its seconds of a call. */
export async function rememberQueries(
  { writer }: TestStore,
  { accountId, connectionId }: ConnectionKey,
  queries: [string, number][],
  role = '',
): Promise<void> {
  await writer.query(
    `insert into query_hour
     select $1, $2, date_trunc('hour', now()) - n * interval '6 h', 1000, 100, $3, array_fill('shop'::text, array[$4::int]),
            array_fill($6::text, array[$4::int]), array_fill(100::float8, array[$4::int]), $5,
            array_fill(100::float8, array[$4::int]), array_fill(0::float8, array[$4::int]), array_fill(0::float8, array[$4::int]),
            array_fill(0::float8, array[$4::int])
       from generate_series(5, 20) n`,
    [
      accountId,
      connectionId,
      queries.map(([id]) => id),
      queries.length,
      queries.map(([, mean]) => mean * 100),
      role,
    ],
  );
}

/** What is stored of the queries of the last two hours, most time first. */
export async function recentQueries(
  { writer }: TestStore,
  { accountId, connectionId }: ConnectionKey,
): Promise<{ query: string; calls: number; seconds: number }[]> {
  const { rows } = await writer.query(
    `select u.* from query_hour h, unnest(query, database, role, calls, seconds, rows, read, hit, temporary)
            as u (query, database, role, calls, seconds, rows, read, hit, temporary)
      where account_id = $1 and connection_id = $2 and hour > now() - interval '2 h'
      order by seconds desc`,
    [accountId, connectionId],
  );
  return rows;
}
