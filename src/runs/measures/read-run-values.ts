import type { Read } from '../../store/read.ts';

/** What two runs measured of a series; null = that run did not measure it. */
export interface ComparedMeasure {
  series_id: number;
  /** '' = a vital. */
  check_id: string;
  metric: string;
  /** '' = the whole server. */
  database: string;
  object: string | null;
  before: number | null;
  after: number | null;
}

/** As many as a connection measures in two runs that have no series in common. */
const MOST = 600;

// The run itself; or of runs of more than a day ago, the last of its five minutes; or the last value of its hour or day. The later tables are only searched when the earlier ones have nothing.
const valueAt = (at: string, name: string) => `
  left join lateral (
    select values from measure_run
     where account_id = $1 and connection_id = $2
       and measured_at between ${at} - interval '5 min' and ${at} + interval '5 min'
     order by abs(extract(epoch from measured_at - ${at}))
     limit 1) ${name}_run on true
  left join lateral (
    select case when cardinality(last) = 1 then last[1]
                else last[floor(extract(epoch from ${at} at time zone 'UTC') % 86400 / 300)::integer + 1] end as value
      from measure_five_minutes
     where account_id = $1 and connection_id = $2 and series_id = s.series_id
       and day = (${at} at time zone 'UTC')::date and ${name}_run.values is null and ${at} > now() - interval '9 days'
     limit 1) ${name}_five on true
  left join lateral (
    select last[extract(hour from ${at} at time zone 'UTC')::int + 1] as value from measure_hour
     where account_id = $1 and connection_id = $2 and series_id = s.series_id
       and day = (${at} at time zone 'UTC')::date and ${name}_run.values is null and ${name}_five.value is null
     limit 1) ${name}_hour on true
  left join lateral (
    select last[extract(day from ${at} at time zone 'UTC')::int] as value from measure_day
     where account_id = $1 and connection_id = $2 and series_id = s.series_id
       and month = date_trunc('month', ${at} at time zone 'UTC')::date
       and ${name}_run.values is null and ${name}_hour.value is null
     limit 1) ${name}_day on true`;

export const selectRunValues = `
  select s.series_id, s.check_id, s.metric, s.database, s.object,
         case when from_run.values is null then coalesce(from_five.value, from_hour.value, from_day.value) else from_run.values[s.slot] end as before,
         case when to_run.values is null then coalesce(to_five.value, to_hour.value, to_day.value) else to_run.values[s.slot] end as after
    from (select series_id, slot, check_id, metric, database, object
            from measure_series
           where account_id = $1 and connection_id = $2 and last_seen_at >= date_trunc('day', $3::timestamptz)
           order by series_id
           limit ${MOST}) s
  ${valueAt('$3::timestamptz', 'from')}
  ${valueAt('$4::timestamptz', 'to')}`;

/**
 * Reads what two runs measured, by the times of the runs. For runs whose values are no longer stored it is the last value of
 * the hour or day. Series that neither of them measured are left out.
 */
export async function readRunValues(
  read: Read,
  accountId: number,
  connectionId: number,
  { from, to }: { from: Date; to: Date },
): Promise<ComparedMeasure[]> {
  const values = [accountId, connectionId, from.toISOString(), to.toISOString()];
  const rows = await read<ComparedMeasure>(selectRunValues, values);
  return rows.filter(({ before, after }) => before !== null || after !== null);
}
