import type { ConsoleAccount, Person } from './console-service.ts';

/** A hostile name of a table: neither HTML nor a formula of a spreadsheet. */
export const HOSTILE = '=1+<img src=x onerror="window.taken=1">';

/** A series, with an SQL expression of its value at the time `t` (Unix seconds). */
interface Series {
  check: string;
  metric: string;
  database?: string;
  object?: string;
  value: string;
  /** Operator, warning, critical and limit of the latest value. */
  levels?: string;
}

const DAILY = 'sin(t / 86400 * 2 * pi())';

const SERIES: Series[] = [
  { check: '', metric: 'transactions_per_second', value: `500 + 300 * ${DAILY}` },
  { check: '', metric: 'rollbacks_per_second', value: `3 + ${DAILY}` },
  { check: '', metric: 'cache_hit_ratio', value: `0.99 + 0.008 * ${DAILY}` },
  { check: '', metric: 'connections_count', value: `round((60 + 20 * ${DAILY})::numeric)` },
  { check: '', metric: 'active_connections_count', value: `round((12 + 8 * ${DAILY})::numeric)` },
  { check: '', metric: 'longest_transaction_seconds', value: `90 + 60 * ${DAILY}` },
  { check: '', metric: 'wal_bytes_per_second', value: `2e6 + 1e6 * ${DAILY}` },
  ...Array.from({ length: 8 }, (_, place) => ({
    check: '',
    metric: 'table_bytes',
    database: 'app',
    value: `${8 - place} * 1e9 + 50 * (t - 1.7e9)`,
    object: place === 0 ? HOSTILE : `public.table_${place}`,
  })),
];

const text = (value: string | null | undefined) =>
  value === null || value === undefined ? 'null' : `'${value.replaceAll("'", "''")}'`;

/** The values of all series at `t`. Each a real, as runs store them. */
const values = (series: readonly Series[]) => `array[${series.map(({ value }) => value).join(', ')}]::real[]`;

interface Ids {
  account: number;
  connection: number;
}

const TABLES = ['forecast', 'day', 'hour', 'run', 'latest', 'rolled', 'series'].map(
  (name) => `measure_${name}`,
);

const clearing = ({ account, connection }: Ids) =>
  [...TABLES, 'connection_change']
    .map((table) => `delete from ${table} where account_id = ${account} and connection_id = ${connection};`)
    .join('\n');

/** Removes the values and changes that sample data gave the connection. */
export function clearMeasures(service: ConsoleAccount, connection: number): Promise<void> {
  return service.statement(clearing({ account: service.accountId, connection }));
}

const seriesOf = ({ account, connection }: Ids, series: readonly Series[], seen: string) => `
  insert into measure_series (account_id, connection_id, series_id, slot, check_id, metric, database, object, last_seen_at)
  values ${series.map(({ check, metric, database, object }, n) => `(${account}, ${connection}, ${n + 1}, ${n + 1}, '${check}', '${metric}', ${text(database ?? '')}, ${text(object)}, ${seen})`).join(', ')};
  insert into measure_latest (account_id, connection_id, measured_at, series_ids, values, operators, warnings, criticals, limits, dropped)
  select ${account}, ${connection}, ${seen}, array[${series.map((_, n) => n + 1).join(', ')}], ${values(series)},
         array_agg(operator), array_agg(warning), array_agg(critical), array_agg(full_at), 3
    from (select extract(epoch from ${seen})::float8 as t) now,
         (values ${series.map(({ levels }) => `(${levels ?? 'null::text, null::float8, null::float8, null::float8'})`).join(', ')})
           levels (operator, warning, critical, full_at)
   group by t;`;

/** A run per minute for 24 hours, without those of 5 to 6 hours ago; hours for 60 days, and days for 13 months. */
const historyOf = ({ account, connection }: Ids, series: readonly Series[]) => `
  insert into measure_run (account_id, connection_id, measured_at, values)
  select ${account}, ${connection}, at, ${values(series)}
    from generate_series(now() - interval '24 hours', now(), '1 minute') at, lateral (select extract(epoch from at)::float8 as t) seconds
   where at not between now() - interval '6 hours' and now() - interval '5 hours';
  ${series
    .map(({ value }, n) =>
      (
        [
          ['hour', 'day', '1 hour', '60 days'],
          ['day', 'month', '1 day', '13 months'],
        ] as const
      )
        .map(
          ([table, part, step, age]) => `
  insert into measure_${table} (account_id, connection_id, series_id, ${part}, minimum, maximum, mean, last)
  select ${account}, ${connection}, ${n + 1}, date_trunc('${part}', at at time zone 'UTC')::date,
         array_agg((${value}) * 0.9 order by at), array_agg((${value}) * 1.1 order by at),
         array_agg(${value} order by at), array_agg(${value} order by at)
    from generate_series(date_trunc('${part}', now() - interval '${age}', 'UTC'), date_trunc('day', now()) - interval '1 second', '${step}') at,
         lateral (select extract(epoch from at)::float8 as t) seconds
   group by date_trunc('${part}', at at time zone 'UTC');`,
        )
        .join(''),
    )
    .join('')}`;

const changesOf = ({ account, connection }: Ids) => `
  insert into connection_change (account_id, connection_id, at, kind, database, subject, before, after, source)
  select ${account}, ${connection}, now() - n * interval '2 hours', kind, database, subject, before, after, source
    from generate_series(1, 40) n,
         lateral (values
           (0, 'setting', '', 'work_mem', (n * 4) || 'MB', (n * 8) || 'MB', 'ALTER SYSTEM'),
           (1, 'index', 'app', ${text(HOSTILE)}, null, 'create index on orders (created_at)' || repeat(' x', 200), null),
           (2, 'finding', 'app', 'Table with many dead rows', 'warning', 'critical', null)
         ) as kinds (place, kind, database, subject, before, after, source)
   where n % 3 = place;`;

/** Gives the connection 13 months of values, changes, and a finding with its series and forecast. */
export async function writeMeasures(
  service: ConsoleAccount,
  owner: Person,
  connection: number,
): Promise<void> {
  const ids = { account: service.accountId, connection };
  const { latest } = await service.ask<{
    latest: { findings: { check_id: string; database: string; object: string | null }[] };
  }>(owner, 'GET', `/connections/${connection}`);
  const [worst] = latest.findings;
  if (!worst) throw new Error('The connection has no finding.');
  const series: Series[] = [
    ...SERIES,
    {
      check: worst.check_id,
      metric: 'dead_rows_ratio',
      database: worst.database,
      ...(worst.object !== null && { object: worst.object }),
      value: `0.25 + 0.1 * ${DAILY}`,
      levels: `'>=', 0.1, 0.3, 1`,
    },
  ];
  await service.statement(`
    set timezone = 'UTC';
    ${clearing(ids)}
    ${seriesOf(ids, series, 'now()')}
    ${historyOf(ids, series)}
    ${changesOf(ids)}
    insert into measure_forecast (account_id, connection_id, series_id, made_at, per_day, per_day_low, per_day_high, full_at, full_earliest, full_latest)
    values (${ids.account}, ${connection}, ${series.length}, now(), 0.004, 0.003, 0.006,
            now() + interval '41 days', now() + interval '26 days', now() + interval '77 days');
    update health_check h
       set findings = jsonb_set(findings, '{0,measured}', '{"metric": "dead_rows_ratio", "value": 0.35, "operator": ">=", "threshold": 0.3}')
      from connection c
     where c.account_id = ${ids.account} and c.connection_id = ${connection}
       and h.account_id = c.account_id and h.health_check_id = c.latest_check_id;`);
}

/** Gives the connection one vital with a single run of that age, such as `10 minutes`; `days` with 13 months of days. */
export async function writeVital(
  service: ConsoleAccount,
  connection: number,
  { age, days = false }: { age: string; days?: boolean },
): Promise<void> {
  const ids = { account: service.accountId, connection };
  const series = SERIES.slice(0, 1);
  await service.statement(`
    set timezone = 'UTC';
    ${clearing(ids)}
    ${seriesOf(ids, series, `now() - interval '${age}'`)}
    ${
      days
        ? historyOf(ids, series)
        : `insert into measure_run (account_id, connection_id, measured_at, values)
           values (${ids.account}, ${connection}, now() - interval '${age}', array[512]::real[])`
    }`);
}
