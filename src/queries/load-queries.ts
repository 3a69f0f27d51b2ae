import type pg from 'pg';
import { one } from '../database/one.ts';
import { unnestHour } from './hour-columns.ts';
import type { QueryInstructions } from './query-run.ts';

/** Of the two weeks before, so many queries are compared. A server with 50 new ones in each hour has more. */
const USUAL = 5_000;

// The median of the days, so that a few slow days don't count.
const refreshUsual = `
  with listed as materialized (
    select u.query, u.database, u.role, u.calls, u.seconds, date_trunc('day', h.hour, 'UTC') as day, h.hour
      from query_hour h, ${unnestHour('h')}
     where account_id = $1 and connection_id = $2
       and h.hour >= now() - interval '14 days' and h.hour < now() - interval '24 hours'
  ), days as (
    select query, database, role, sum(seconds) as seconds, sum(seconds) / greatest(sum(calls), 1) as mean
      from listed
     group by query, database, role, day
  ), queries as (
    select query, database, role, percentile_cont(0.5) within group (order by mean) as mean, count(*) as days
      from days
     group by query, database, role
     order by sum(seconds) desc
     limit ${USUAL + 1}
  )
  update query_state
     set usual_hour = date_trunc('hour', now(), 'UTC'),
         usual = jsonb_build_object(
           'days', coalesce((select extract(epoch from now() - interval '24 hours' - min(hour)) / 86400 from listed), 0),
           'isCut', (select count(*) > ${USUAL} from queries),
           'queries', coalesce((select jsonb_agg(jsonb_build_array(query, database, role, mean, days)) from queries), '[]'))
   where account_id = $1 and connection_id = $2
     and usual_hour is distinct from date_trunc('hour', now(), 'UTC')
     and exists (select from query_hour where account_id = $1 and connection_id = $2)`;

const select = `
  select encode(s.state, 'base64') as state,
         s.usual::text as usual,
         (select jsonb_build_object(
                   'seconds', coalesce((select sum(all_seconds) from query_hour
                                         where account_id = $1 and connection_id = $2
                                           and hour >= date_trunc('hour', now() - interval '30 min', 'UTC')), 0),
                   'queries', coalesce(jsonb_agg(jsonb_build_array(query, database, role, calls, seconds, rows, read, hit,
                                                                   temporary)), '[]'))::text
            from (select u.*
                    from query_hour h, ${unnestHour('h')}
                   where account_id = $1 and connection_id = $2
                     and h.hour >= date_trunc('hour', now() - interval '30 min', 'UTC')) recent) as recent,
         case when c.query_texts
              then (select coalesce(array_agg(query), '{}') from query_text
                     where account_id = $1 and connection_id = $2) end as texts
    from connection c
    left join query_state s using (account_id, connection_id)
   where account_id = $1 and connection_id = $2`;

/** Loads what a run needs of the queries of the runs before. */
export async function loadQueries(
  writer: pg.Pool | pg.ClientBase,
  accountId: number,
  connectionId: number,
): Promise<QueryInstructions> {
  const ids = [accountId, connectionId];
  await writer.query(refreshUsual, ids);
  const { rows } = await writer.query<QueryInstructions>(select, ids);
  return one(rows, 'load the queries of a connection');
}
