import { SEAL_FORMAT } from '../../src/activity/seals/seal.ts';
import { tagsOfConnection } from '../../src/store/sql/connection-tags.sql.ts';
import { unitOf } from '../../src/vocabulary/units.ts';

// The plain selects of the endpoints for numbers, changes, queries, episodes, alerts and seals: one statement each. `total` is what the
// contract demands in `meta`, to 10,001 where the service counts no further, in the cheapest way that was found: a window where the statement
// reads all rows anyway, and else a count by an index alone. A list that is answered whole has as many rows.

type Row = Record<string, unknown>;

/** A read of the plain server: `$1` is the account, `$2` the connection if the path has one, and then what `values` takes of the query. */
interface PlainRead {
  /** Of the path below `/api/v1`. */
  path: RegExp;
  name: string;
  text: string;
  values?: (query: URLSearchParams) => unknown[];
  shape?: (row: Row) => Row;
}

const orNull = (value: unknown) => (value === '' ? null : value);
const perPage = (query: URLSearchParams) => query.get('per_page') ?? 50;
const withUnit = ({ check_id, database, ...row }: Row) => ({
  ...row,
  unit: unitOf(String(row['metric'])),
  check_id: orNull(check_id),
  database: orNull(database),
});
const OF_CHANGE = `
  c.change_id as id, c.kind, c.subject as name, nullif(c.database, '') as database,
  regexp_replace(c.before, '^hidden \\([0-9a-f]{8}\\)$', 'changed') as "from",
  regexp_replace(c.after, '^hidden \\([0-9a-f]{8}\\)$', 'changed') as "to", c.source, c.at`;

const counted = (rows: string) =>
  `(select count(*)::integer from (select ${rows} limit 10001) counted) as total`;
const LISTED = 'array(select connection_id from connection where account_id = $1 and removed_at is null)';

const READS: readonly PlainRead[] = [
  {
    path: /^\/health\/connections\/(\d+)\/measures$/,
    name: 'measures',
    text: `
      select v.series_id as id, s.metric, s.check_id, s.database, s.object, v.value, v.operator, v.warning, v.critical, l.measured_at,
             f.full_at
        from measure_latest l
       cross join unnest(l.series_ids, l.values, l.operators, l.warnings, l.criticals) with ordinality
               as v (series_id, value, operator, warning, critical, n)
        join measure_series s
          on s.account_id = l.account_id and s.connection_id = l.connection_id and s.series_id = v.series_id
        left join measure_forecast f
          on f.account_id = l.account_id and f.connection_id = l.connection_id and f.series_id = v.series_id
       where l.account_id = $1 and l.connection_id = $2
       order by v.n`,
    shape: withUnit,
  },
  {
    path: /^\/health\/connections\/(\d+)\/measures\/history$/,
    name: 'history',
    text: `
      select date_trunc('second', r.measured_at) as at, r.values[s.slot] as value, s.check_id, s.database, s.object
        from measure_series s
        join measure_run r using (account_id, connection_id)
       where account_id = $1 and connection_id = $2 and s.metric = $3 and r.measured_at >= $4 and r.measured_at < $5
       order by s.check_id, s.database, s.object, s.series_id, r.measured_at`,
    values: (query) => [query.get('metric'), query.get('from'), query.get('to')],
    shape: ({ check_id, database, ...row }) => ({
      ...row,
      min: row['value'],
      max: row['value'],
      check_id: orNull(check_id),
      database: orNull(database),
    }),
  },
  {
    path: /^\/health\/measures$/,
    name: 'fleet measures',
    text: `
      select s.connection_id, c.name as connection_name, ${tagsOfConnection} as tags, s.metric, s.check_id, s.database, s.object,
             v.value, v.operator, v.warning, v.critical, l.measured_at, f.full_at, count(*) over ()::integer as total
        from measure_series s
        join connection c using (account_id, connection_id)
        join measure_latest l using (account_id, connection_id)
       cross join unnest(l.series_ids, l.values, l.operators, l.warnings, l.criticals)
               as v (series_id, value, operator, warning, critical)
        left join measure_forecast f
          on f.account_id = s.account_id and f.connection_id = s.connection_id and f.series_id = s.series_id
       where s.account_id = $1 and s.metric = $2 and v.series_id = s.series_id and c.removed_at is null
       order by s.connection_id, s.series_id
       limit $3`,
    values: (query) => [query.get('metric'), perPage(query)],
    shape: withUnit,
  },
  {
    path: /^\/health\/connections\/(\d+)\/changes$/,
    name: 'changes',
    text: `
      select ${OF_CHANGE}, ${counted('from connection_change where account_id = $1 and connection_id = $2')}
        from connection_change c
       where c.account_id = $1 and c.connection_id = $2
       order by c.at desc, c.change_id desc
       limit $3`,
    values: (query) => [perPage(query)],
  },
  {
    path: /^\/health\/changes$/,
    name: 'fleet changes',
    text: `
      select ${OF_CHANGE}, n.connection_id, n.name as connection_name,
             ${counted(`from connection_change where account_id = $1 and connection_id = any (${LISTED})`)}
        from connection_change c
        join connection n using (account_id, connection_id)
       where c.account_id = $1 and c.change_id > 0 and n.removed_at is null
       order by c.at desc, c.change_id desc
       limit $2`,
    values: (query) => [perPage(query)],
  },
  {
    path: /^\/health\/connections\/(\d+)\/queries$/,
    name: 'queries',
    text: `
      select u.query as query_id, nullif(u.database, '') as database, nullif(u.role, '') as role, sum(u.calls) as calls,
             sum(u.seconds) as seconds, sum(u.seconds) / greatest(sum(u.calls), 1) as mean_seconds, sum(u.rows) as rows,
             sum(u.read) as reads, sum(u.hit) as hits, sum(u.temporary) as temporary, count(*) over ()::integer as total
        from query_hour h
       cross join unnest(h.query, h.database, h.role, h.calls, h.seconds, h.rows, h.read, h.hit, h.temporary)
               as u (query, database, role, calls, seconds, rows, read, hit, temporary)
       where h.account_id = $1 and h.connection_id = $2 and h.hour >= date_trunc('hour', $3::timestamptz, 'UTC') and h.hour <= $4
       group by u.query, u.database, u.role
       order by sum(u.seconds) desc, u.query, u.database, u.role
       limit $5`,
    values: (query) => [query.get('from'), query.get('to'), perPage(query)],
  },
  {
    path: /^\/health\/connections\/(\d+)\/episodes$/,
    name: 'episodes',
    text: `
      select *, count(*) over ()::integer as total
        from (select 'blocking' as kind, began_at, seen_at, ended_at, nullif(database, '') as database, nullif(role, '') as role,
                     nullif(application, '') as application, most_sessions, longest_seconds, lost_seconds, '[]'::jsonb as transactions
                from blocking_episode
               where account_id = $1 and connection_id = $2
              union all
              select 'deadlock', at, at, at, null, null, null, jsonb_array_length(transactions), null, null,
                     (select jsonb_agg(t - 'digest' || jsonb_build_object('query_id', t -> 'digest')) from jsonb_array_elements(transactions) t)
                from deadlock
               where account_id = $1 and connection_id = $2) e
       order by began_at desc, kind
       limit $3`,
    values: (query) => [perPage(query)],
  },
  {
    path: /^\/ops\/alerts$/,
    name: 'alerts',
    text: `
      select a.alert_id as id, a.alert_id, a.state as status, a.severity, r.name as rule_name,
             json_build_object('id', c.connection_id, 'name', c.name, 'host', c.host, 'port', c.port,
                               'connection_type', c.connection_type) as connection,
             a.metric, a.operator, a.threshold, a.value, nullif(a.details ->> 'check_id', '') as check_id,
             nullif(a.details ->> 'database', '') as database, a.details -> 'object' as object,
             a.details ->> 'metric_line' as metric_line, a.triggered_at, a.acknowledged_at, a.resolved_at, a.resolution,
             ${counted(`from alert where account_id = $1 and state <> 'pending'`)}
        from alert a
        join alert_rule r using (account_id, rule_id)
        join connection c using (account_id, connection_id)
       where a.account_id = $1 and a.state <> 'pending'
       order by a.triggered_at desc, a.alert_id desc
       limit $2`,
    values: (query) => [perPage(query)],
  },
  {
    path: /^\/activity\/seals$/,
    name: 'seals',
    text: `
      select account_id, number, first_id, last_id, to_char(last_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as last_at,
             cut_to, encode(leaves_sha256, 'hex') as leaves_sha256, encode(previous, 'hex') as previous,
             encode(public_key, 'hex') as public_key,
             to_char(sealed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as sealed_at, encode(signature, 'hex') as signature,
             (select max(number)::integer from activity_seal where account_id = $1) as total
        from activity_seal
       where account_id = $1
       order by number
       limit $2`,
    values: (query) => [perPage(query)],
    shape: (row) => ({ format: SEAL_FORMAT, ...row }),
  },
];

/** The statement, values and shape of a path's rows; null if it is none of these endpoints. */
export function findPlainRead(path: string, query: URLSearchParams) {
  for (const { path: form, name, text, values = () => [], shape = (row: Row) => row } of READS) {
    const match = form.exec(path);
    if (match)
      return { name, text, values: [query.get('account'), ...match.slice(1), ...values(query)], shape };
  }
  return null;
}
