import { COUNTERS, type QueryWork } from '../../checks/queries/query-facts.ts';
import type { Read } from '../../store/read.ts';
import { unnestHour } from './store-queries.ts';

const select = `
  select extract(epoch from h.hour)::float8 as at, ${COUNTERS.map((name) => `sum(u.${name}) as ${name}`).join(', ')}
    from query_hour h, ${unnestHour('h')}
   where account_id = $1 and connection_id = $2
     and h.hour between date_trunc('hour', $3::timestamptz, 'UTC') and $4
     and u.query = $5 and ($6::text is null or u.database = $6) and ($7::text is null or u.role = $7)
   group by h.hour
   order by h.hour`;

/** What a query did in an hour, which began at `at`, in Unix seconds. */
export interface QueryHour extends QueryWork {
  at: number;
}

/** What a query did hour by hour. An hour is missing if the query was not among those with the most time. */
export function readQueryHistory(
  read: Read,
  key: readonly [accountId: number, connectionId: number],
  { query, database, role }: { query: string; database: string | undefined; role: string | undefined },
  { from, to }: { from: Date; to: Date },
): Promise<QueryHour[]> {
  return read(select, [...key, from, to, query, database, role]);
}
