import type pg from 'pg';

/** Connections with a history of measures. */
export interface MeasuredFleet {
  connections: number;
  series: number;
  /** Seconds between the runs of a connection. */
  every: number;
  /** Whether they have 13 months of history instead of 24 hours. */
  full: boolean;
  /** The share of series whose values never change. */
  steady: number;
  /** The whole hour at which the history ends. */
  end: Date;
}

const addConnections = `
  insert into connection (account_id, name, engine, connection_type, host, port, database, username, tls, created_at)
  select $1, 'measured ' || n, 'postgres', 'direct', 'db' || n, 5432, 'shop', 'watcher', 'disable', now()
    from generate_series(1, $2::integer) n
  returning connection_id as id`;

const addSeries = `
  insert into measure_series (account_id, connection_id, series_id, slot, check_id, metric, database, object, last_seen_at)
  select $1, c, n, n, 'PG_TEST', 'metric_ratio', '', 'public.table_' || n, $4
    from unnest($2::bigint[]) c, generate_series(1, $3::integer) n`;

const addLatest = `
  insert into measure_latest
  select $1, c, $4, array(select generate_series(1, $3::integer)), array_fill(0.5::float8, array[$3::integer]),
         array_fill('>='::text, array[$3::integer]), array_fill(0.8::float8, array[$3::integer]),
         array_fill(0.9::float8, array[$3::integer]), array_fill(null::float8, array[$3::integer]), 0
    from unnest($2::bigint[]) c`;

const addRolled = `
  insert into measure_rolled select $1, c, $3::timestamptz, ($3::timestamptz)::date from unnest($2::bigint[]) c`;

// The runs of all connections by time, because that is how a monitor stores them. No row is long enough to be
// compressed, so one array serves for all.
const addRuns = `
  insert into measure_run (account_id, connection_id, measured_at, values)
  select $1, c, t + n * interval '7 ms', array_fill(0.5::real, array[$3::integer])
    from generate_series($4::timestamptz, $5::timestamptz - interval '1 s', make_interval(secs => $6)) t,
         unnest($2::bigint[]) with ordinality c (c, n)
   order by t, n`;

const addSpans = (table: string, key: string, spans: string, count: number) => `
  insert into ${table} (account_id, connection_id, series_id, ${key}, minimum, maximum, mean, last)
  select $1, c, n, span::date, varied, varied, varied, last
    from ${spans} span, unnest($2::bigint[]) c, generate_series(1, $3::integer) n,
         lateral (select array_fill(0.5::real, array[${count}]) as last,
                         case when n > $4::float8 * $3 then array_fill(0.5::real, array[${count}]) end as varied) v
   order by span, c, n`;

const addHours = addSpans(
  'measure_hour',
  'day',
  `generate_series(($5::timestamptz)::date - 60, ($5::timestamptz)::date - 1, interval '1 day')`,
  24,
);
const addDays = addSpans(
  'measure_day',
  'month',
  `generate_series(date_trunc('month', $5::timestamptz - interval '13 months'), date_trunc('month', $5::timestamptz), interval '1 month')`,
  30,
);

const addToday = `
  insert into measure_hour (account_id, connection_id, series_id, day, minimum, maximum, mean, last)
  select $1, c, n, $5::timestamptz::date, varied, varied, varied, last
    from unnest($2::bigint[]) c, generate_series(1, $3::integer) n, (select extract(hour from $5::timestamptz)::integer as hours) h,
         lateral (select array_fill(0.5::real, array[hours]) as last,
                         case when n > $4::float8 * $3 then array_fill(0.5::real, array[hours]) end as varied) v
   where hours > 0
   order by c, n`;

const addFiveMinutes = `
  insert into measure_five_minutes (account_id, connection_id, series_id, day, last)
  select $1, c, n, day::date, array_fill(0.5::real, array[case when n > $4::float8 * $3 then 288 else 1 end])
    from generate_series($5::timestamptz::date - 7, $5::timestamptz::date - 2, interval '1 day') day,
         unnest($2::bigint[]) c, generate_series(1, $3::integer) n
   order by day, c, n`;

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Writes a fleet of an account as its rounds have left it, and returns the connections. */
export async function fillMeasures(
  pool: pg.Pool,
  accountId: number,
  fleet: MeasuredFleet,
): Promise<number[]> {
  const { series, every, end, steady } = fleet;
  const { rows } = await pool.query<{ id: number }>(addConnections, [accountId, fleet.connections]);
  const connections = rows.map(({ id }) => id);
  const ids = [accountId, connections];
  const before = (seconds: number) => new Date(end.getTime() - 1_000 * seconds);
  await pool.query(addSeries, [...ids, series, before(DAY)]);
  await pool.query(addLatest, [...ids, series, end]);
  await pool.query(addRolled, [...ids, end]);
  const spans: [from: number, to: number, apart: number][] = [
    [DAY + ((end.getTime() / 1_000) % DAY), DAY, 5 * MINUTE],
    [DAY, 0, MINUTE],
  ];
  for (const [from, to, apart] of fleet.full ? spans : spans.slice(1)) {
    await pool.query(addRuns, [...ids, series, before(from), before(to), Math.max(apart, every)]);
  }
  if (!fleet.full) return connections;
  await pool.query(addFiveMinutes, [...ids, series, steady, end]);
  await pool.query(addHours, [...ids, series, steady, end]);
  await pool.query(addToday, [...ids, series, steady, end]);
  await pool.query(addDays, [...ids, series, steady, end]);
  return connections;
}

// As src/runs/measures/store-measures.ts does for a connection that is checked more often than once a minute.
const replaceRuns = `
  with replaced as (
    delete from measure_run r
     using unnest($2::bigint[]) c
     where account_id = $1 and connection_id = c
       and measured_at >= date_trunc('minute', $4::timestamptz) - interval '1 min' and measured_at < $4
       and date_trunc('minute', measured_at) = date_trunc('minute', $4::timestamptz))
  insert into measure_run (account_id, connection_id, measured_at, values)
  select $1, c, $4::timestamptz + n * interval '7 ms', array_fill(random()::real, array[$3::integer])
    from unnest($2::bigint[]) with ordinality c (c, n)`;

const addHourOfRuns = `
  insert into measure_run (account_id, connection_id, measured_at, values)
  select $1, c, t + n * interval '7 ms',
         array(select case when s > $7::float8 * $3 then random() else 0.5 end::real from generate_series(1, $3::integer) s where t is not null)
    from generate_series($4::timestamptz, $5::timestamptz - interval '1 s', make_interval(secs => $6)) t,
         unnest($2::bigint[]) with ordinality c (c, n)
   order by t, n`;

/** Stores the runs of connections in an hour. */
export async function liveAnHour(
  pool: pg.Pool,
  accountId: number,
  connections: readonly number[],
  { series, every, steady }: MeasuredFleet,
  from: Date,
): Promise<void> {
  const to = new Date(from.getTime() + 1_000 * HOUR);
  const ids = [accountId, connections, series];
  if (every < MINUTE) {
    for (let at = from.getTime(); at < to.getTime(); at += 1_000 * every) {
      await pool.query(replaceRuns, [...ids, new Date(at)]);
    }
  } else await pool.query(addHourOfRuns, [...ids, from, to, every, steady]);
  if (from.getUTCHours() > 0) return;
  await pool.query(
    'update measure_series set last_seen_at = $3 where account_id = $1 and connection_id = any($2)',
    [accountId, connections, from],
  );
}
