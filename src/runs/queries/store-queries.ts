import type pg from 'pg';
import { one } from '../../store/one.ts';
import type { QueryInstructions, QueryReport } from './query-run.ts';

/** The columns of `query_hour` that have an element per query, in the order in which they are written. */
export const HOUR_COLUMNS = [
  'query',
  'database',
  'role',
  'calls',
  'seconds',
  'rows',
  'read',
  'hit',
  'temporary',
] as const;

/**
 * The item of FROM that turns a row of `query_hour` into one row per query, named `u`. In FROM itself, PostgreSQL would store what each
 * of these functions returns before it reads it, which takes twice the time of a list of queries.
 */
export function unnestHour(table: string): string {
  const columns = HOUR_COLUMNS.map((column) => `unnest(${table}.${column}) as ${column}`).join(', ');
  return `lateral (select ${columns}) u`;
}

/** The queries that are kept of an hour that ended. */
const KEPT = 50;

/** The queries that are kept while it lasts, so that one of rank 60 in each run can be of rank 40 in the hour. */
const CANDIDATES = 200;

/** The queries on the server's catalogue that are remembered: those that were seen last. */
const CATALOGUE = 1_000;

const sums = HOUR_COLUMNS.slice(3);

// One statement, so that a run is counted in its hour exactly if the next run begins where it ended.
const store = `
  with state as (
    insert into query_state as s (account_id, connection_id, read_at, state, catalogue) values ($1, $2, now(), $3, $15)
    on conflict (account_id, connection_id) do update
       set read_at = excluded.read_at, state = excluded.state,
           catalogue = array(select query
                               from unnest(excluded.catalogue || s.catalogue) with ordinality c (query, place)
                              group by query order by min(place) limit ${CATALOGUE})
  ), ended as (
    update query_hour
       set ${HOUR_COLUMNS.map((column) => `${column} = ${column}[:${KEPT}]`).join(', ')}
     where account_id = $1 and connection_id = $2
       and hour between now() - interval '14 days' and date_trunc('hour', now(), 'UTC') - interval '1 s'
       and cardinality(query) > ${KEPT}
  ), merged as (
    select query, database, role, ${sums.map((column) => `sum(${column}) as ${column}`).join(', ')}
      from (select * from unnest(${HOUR_COLUMNS.map((_, n) => `$${n + 6}::${n < 3 ? 'text' : 'float8'}[]`).join(', ')})
              as n (${HOUR_COLUMNS.join(', ')})
            union all
            select u.*
              from query_hour h, ${unnestHour('h')}
             where account_id = $1 and connection_id = $2 and h.hour = date_trunc('hour', now(), 'UTC')) summed
     group by query, database, role
     order by sum(seconds) desc
     limit ${CANDIDATES}
  )
  insert into query_hour as h
         (account_id, connection_id, hour, all_calls, all_seconds, ${HOUR_COLUMNS.join(', ')})
  select $1, $2, date_trunc('hour', now(), 'UTC'), $4, $5,
         ${HOUR_COLUMNS.map((column) => `array_agg(${column} order by seconds desc)`).join(', ')}
    from merged
  having count(*) > 0
  on conflict (account_id, connection_id, hour) do update
     set all_calls = h.all_calls + excluded.all_calls, all_seconds = h.all_seconds + excluded.all_seconds,
         ${HOUR_COLUMNS.map((column) => `${column} = excluded.${column}`).join(', ')}`;

// Texts are off as soon as a member switched them off, whatever a run has read.
const storeTexts = `
  insert into query_text (account_id, connection_id, query, text, read_at)
  select $1, $2, query, text, now()
    from unnest($3::text[], $4::text[]) as t (query, text)
   where exists (select from connection
                  where account_id = $1 and connection_id = $2 and query_texts and removed_at is null
                    for share)
  on conflict (account_id, connection_id, query) do update set text = excluded.text, read_at = excluded.read_at`;

/** Stores what a run read of queries: the counters for the next run, and what ran in its hour. Runs of a connection must not overlap. */
export async function storeQueries(
  writer: pg.Pool,
  { accountId, connectionId }: { accountId: number; connectionId: number },
  { state, grown, calls, seconds, texts, catalogue = [] }: QueryReport,
): Promise<void> {
  const columns = HOUR_COLUMNS.map((column) => grown.map((one) => one[column]));
  const ids = [accountId, connectionId];
  await writer.query(store, [...ids, Buffer.from(state, 'base64'), calls, seconds, ...columns, catalogue]);
  if (texts.length > 0)
    await writer.query(storeTexts, [...ids, texts.map(([query]) => query), texts.map(([, text]) => text)]);
}

const forget = `
  with texts as (
    delete from query_text where account_id = $1 and connection_id = $2
  ), hours as (
    delete from query_hour where account_id = $1 and connection_id = $2
  )
  delete from query_state where account_id = $1 and connection_id = $2`;

/** Deletes what is known of the queries of a connection that is removed. */
export async function forgetQueries(
  client: pg.ClientBase,
  accountId: number,
  connectionId: number,
): Promise<void> {
  await client.query(forget, [accountId, connectionId]);
}

const forgetTexts = 'delete from query_text where account_id = $1 and connection_id = $2';

/** Deletes the texts of a connection whose texts are switched off. */
export async function forgetQueryTexts(
  client: pg.ClientBase,
  accountId: number,
  connectionId: number,
): Promise<void> {
  await client.query(forgetTexts, [accountId, connectionId]);
}

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
