import { COUNTERS, type QueryPlace, type QueryWork } from '../../checks/queries/query-facts.ts';
import type { Read } from '../../store/read.ts';
import { countAndTexts, readTexts, type TextRow } from '../../store/sql/records.sql.ts';
import { unnestHour } from './store-queries.ts';

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
  /** Of the queries of the range, at most 100 each. */
  databases: string[];
  roles: string[];
  /** Of the sessions with a query that pulses saw, whenever that was; at most 100. '' = sessions without a name. */
  applications: string[];
  /** Queries of dbvitals itself are left out. */
  hides_own: boolean;
}

/** Which queries are listed. */
interface QueryFilter {
  database?: string | undefined;
  role?: string | undefined;
  /** Only those that a pulse saw in a session of this application, '' = of none: the statistics do not tell. */
  application?: string | undefined;
  /**
   * Leaves out what dbvitals' login did, unless all queries of the range are of its role. In MySQL, whose statistics name no role:
   * what reads only the server's catalogue, unless all queries of the range do.
   */
  hidesOwn?: boolean;
}

const selectAll = `
  select coalesce(sum(all_calls), 0) as all_calls, coalesce(sum(all_seconds), 0) as all_seconds
    from query_hour
   where account_id = $1 and connection_id = $2
     and hour between date_trunc('hour', $3::timestamptz, 'UTC') and $4`;

const topTexts = `
  with top as materialized (
    select u.query, u.database, u.role, ${COUNTERS.map((name) => `sum(u.${name}) as ${name}`).join(', ')}
      from query_hour h, ${unnestHour('h')}
     where account_id = $1 and connection_id = $2
       and h.hour >= date_trunc('hour', $3::timestamptz, 'UTC') and h.hour < $4
     group by u.query, u.database, u.role
  )
  ${countAndTexts(
    'select count(*) from top',
    `
    select query, nullif(database, ''), nullif(role, ''), calls, seconds, seconds / greatest(calls, 1), rows, read, hit, temporary
      from top
     order by seconds desc, query, database, role limit $5 offset $6`,
  )}`;

/**
 * How many queries of a connection ran in a range of whole hours, and a page of them, most time first. Their texts: query, database and
 * role (null = none), calls, seconds, seconds of a call, rows, reads, hits and what was written temporarily.
 */
export function listTopQueries(
  read: Read,
  accountId: number,
  connectionId: number,
  { from, to, limit, offset }: { from: string; to: string; limit: number; offset: number },
): Promise<[number, TextRow[]]> {
  return readTexts(read, topTexts, [accountId, connectionId, from, to, limit, offset]);
}

/** The queries of MySQL and MariaDB that read only the server's catalogue. */
const catalogue = `
  select unnest(catalogue) as query from query_state where account_id = $1 and connection_id = $2`;

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
       and ($6::text is null or database = $6) and ($7::text is null or role = $7)
       and ($8::text is null or role <> $8)
       and (not $10::boolean or query not in (${catalogue}))
       and ($9::text is null or query in (select s.query from session_load_source s
                                           where s.account_id = $1 and s.connection_id = $2 and s.application = $9))
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

const selectNames = `
  select coalesce((array_agg(distinct u.database))[:100], '{}') as databases,
         coalesce((array_agg(distinct u.role))[:100], '{}') as roles,
         array(select distinct application from session_load_source
                where account_id = $1 and connection_id = $2 and query <> ''
                order by application limit 100) as applications,
         (select username from connection where account_id = $1 and connection_id = $2) as username,
         count(c.query) > 0 and count(*) > count(c.query) as reads_catalogue
    from query_hour h, ${unnestHour('h')}
    left join (${catalogue}) c on c.query = u.query
   where account_id = $1 and connection_id = $2
     and h.hour between date_trunc('hour', $3::timestamptz, 'UTC') and $4`;

interface Names extends Pick<QueryList, 'databases' | 'roles' | 'applications'> {
  username: string;
  /** Some queries read only the server's catalogue, and some do not. */
  reads_catalogue: boolean;
}

/** Lists what the queries of a connection did, by whole hours, most time first. Hours are kept for 14 days. */
export async function listQueries(
  read: Read,
  accountId: number,
  connectionId: number,
  {
    from,
    to,
    limit,
    database,
    role,
    application,
    hidesOwn = false,
  }: QueryFilter & { from: Date; to: Date; limit: number },
): Promise<QueryList> {
  const range = [accountId, connectionId, from, to];
  const [all] = await read<Pick<QueryList, 'all_calls' | 'all_seconds'>>(selectAll, range);
  const [names] = await read<Names>(selectNames, range);
  const {
    databases = [],
    roles = [],
    applications = [],
    username = '',
    reads_catalogue = false,
  } = names ?? {};
  const hasOwn = role === undefined && roles.length > 1 && roles.includes(username);
  const ownRole = hidesOwn && hasOwn ? username : null;
  const hidesCatalogue = hidesOwn && reads_catalogue;
  const values = [...range, limit, database, role, ownRole, application, hidesCatalogue];
  const queries = await read<ListedQuery>(selectQueries, values);
  return {
    all_calls: 0,
    all_seconds: 0,
    ...all,
    queries,
    databases,
    roles,
    applications,
    hides_own: ownRole !== null || hidesCatalogue,
  };
}
