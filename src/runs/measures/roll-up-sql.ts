// $3 is the row's date, and $4 the number of elements before the one to append. The rows of `summary` have a minimum,
// maximum, mean and last for each series. What the row has from that element on is replaced, so that a repetition gives
// the same. minimum, maximum and mean are null where they equal last, which saves most of the space of steady series.
const append = (table: string, key: string, summary: string) => `
  with summary as (${summary})
  insert into ${table} as kept (account_id, connection_id, series_id, ${key}, minimum, maximum, mean, last)
  select $1, $2, series_id, $3::date,
         case when minimum <> last then gap || minimum end,
         case when maximum <> last then gap || maximum end,
         case when mean <> last then gap || mean end,
         gap || last
    from summary, (select array_fill(null::real, array[$4::integer]) as gap) g
  on conflict (account_id, connection_id, series_id, ${key}) do update
     set (minimum, maximum, mean, last) = (
       select nullif(minimum, last), nullif(maximum, last), nullif(mean, last), last
         from (select ${appended('minimum')} as minimum, ${appended('maximum')} as maximum, ${appended('mean')} as mean,
                      ${appended('last')} as last
                 from (select array_fill(null::real, array[greatest($4 - cardinality(kept.last), 0)]) as gap) g) a)`;

const appended = (column: string) => `
  (coalesce(kept.${column}, kept.last))[1:$4] || gap || (coalesce(excluded.${column}, excluded.last))[$4 + 1]`;

/** Appends the hour that begins at $5 to the hours of its day. */
export const appendToHours = append(
  'measure_hour',
  'day',
  `select s.series_id, min(value) as minimum, max(value) as maximum, avg(value)::real as mean,
          (array_agg(value order by measured_at desc))[1] as last
     from measure_run r
    cross join lateral unnest(r.values) with ordinality v (value, slot)
     join measure_series s on s.account_id = $1 and s.connection_id = $2 and s.slot = v.slot
    where r.account_id = $1 and r.connection_id = $2
      and measured_at >= $5::timestamptz and measured_at < $5::timestamptz + interval '1 h'
      and value is not null
    group by s.series_id`,
);

/** Appends the day $5 to the days of its month. */
export const appendToDays = append(
  'measure_day',
  'month',
  `select series_id, min(u.minimum) as minimum, max(u.maximum) as maximum, avg(u.mean)::real as mean,
          (array_agg(u.last order by n desc))[1] as last
     from measure_hour h
    cross join lateral unnest(coalesce(h.minimum, h.last), coalesce(h.maximum, h.last), coalesce(h.mean, h.last), h.last)
               with ordinality u (minimum, maximum, mean, last, n)
    where account_id = $1 and connection_id = $2 and day = $5::date and u.last is not null
    group by series_id`,
);

/** Stores the five minutes of the day $3, from its runs. */
export const packFiveMinutes = `
  with run as materialized (
    select distinct on (n) floor(extract(epoch from measured_at - $3::timestamptz) / 300)::integer as n, values
      from measure_run
     where account_id = $1 and connection_id = $2
       and measured_at >= $3::timestamptz and measured_at < $3::timestamptz + interval '1 day'
     order by n, measured_at desc
  ), packed as (
    select series_id, array_agg(values[slot] order by n) as last,
           count(values[slot]) as measured, min(values[slot]) as lowest, max(values[slot]) as highest
      from measure_series
     cross join generate_series(0, 287) n
      left join run using (n)
     where account_id = $1 and connection_id = $2 and slot is not null
     group by series_id
  )
  insert into measure_five_minutes (account_id, connection_id, series_id, day, last)
  select $1, $2, series_id, $3::timestamptz::date,
         case when measured = 288 and lowest = highest then array[lowest] else last end
    from packed
   where measured > 0
  on conflict (account_id, connection_id, series_id, day) do update set last = excluded.last`;
