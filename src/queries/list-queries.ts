import { COUNTERS, type QueryPlace, type QueryWork } from '../checks/queries/query-facts.ts';
import type { Read } from '../database/read.ts';
import { unnestHour } from './hour-columns.ts';

/** The days of a trend, as long as hours are kept. */
const TREND_DAYS = 14;

/** What a query did in a range of time. */
interface ListedQuery extends QueryPlace, QueryWork {
  /** Seconds of one call on each of the last 14 days (UTC), oldest first; null = not among the queries with the most time. */
  trend: (number | null)[];
}

/** The queries with the most time, and what all queries did. */
export interface QueryList {
  all_calls: number;
  all_seconds: number;
  queries: ListedQuery[];
}

const selectAll = `
  select coalesce(sum(all_calls), 0) as all_calls, coalesce(sum(all_seconds), 0) as all_seconds
    from query_hour
   where account_id = $1 and connection_id = $2
     and hour between date_trunc('hour', $3::timestamptz, 'UTC') and $4`;

const selectQueries = `
  with listed as materialized (
    select h.hour, u.*
      from query_hour h, ${unnestHour('h')}
     where account_id = $1 and connection_id = $2
       and h.hour >= least(date_trunc('hour', $3::timestamptz, 'UTC'), date_trunc('day', now(), 'UTC') - interval '${TREND_DAYS - 1} days')
  ), chosen as (
    select query, database, role, ${COUNTERS.map((name) => `sum(${name}) as ${name}`).join(', ')}
      from listed
     where hour between date_trunc('hour', $3::timestamptz, 'UTC') and $4
     group by query, database, role
     order by sum(seconds) desc
     limit $5
  ), daily as (
    select query, database, role, date_trunc('day', hour, 'UTC') as day, sum(seconds) / greatest(sum(calls), 1) as mean
      from listed
      join (select query, database, role from chosen) c using (query, database, role)
     group by 1, 2, 3, 4
  )
  select query, database, role, ${COUNTERS.join(', ')},
         array(select d.mean
                 from generate_series(0, ${TREND_DAYS - 1}) ago
                 left join daily d on d.query = c.query and d.database = c.database and d.role = c.role
                       and d.day = date_trunc('day', now(), 'UTC') - ago * interval '1 day'
                order by ago desc) as trend
    from chosen c
   order by seconds desc, query, database, role`;

/** Lists what the queries of a connection did, by whole hours, most time first. Hours are kept for 14 days. */
export async function listQueries(
  read: Read,
  accountId: number,
  connectionId: number,
  { from, to, limit }: { from: Date; to: Date; limit: number },
): Promise<QueryList> {
  const range = [accountId, connectionId, from, to];
  const [all] = await read<Omit<QueryList, 'queries'>>(selectAll, range);
  const queries = await read<ListedQuery>(selectQueries, [...range, limit]);
  return { all_calls: 0, all_seconds: 0, ...all, queries };
}
