import type { Read } from '../../store/read.ts';
import type { Engine } from '../../vocabulary/engines.ts';

/** A connection that was measured. */
export interface MeasuredNow {
  connection_id: number;
  name: string;
  engine: Engine;
  /** Unix time of the latest run with values, in seconds. */
  measured_at: number;
  /** Whether it should have been measured again by now. */
  is_stale: boolean;
  /** How many values it has. */
  count: number;
}

/** A latest value of a connection. */
export interface AccountMeasure {
  connection_id: number;
  series_id: number;
  /** '' = a vital. */
  check_id: string;
  metric: string;
  /** '' = the whole server. */
  database: string;
  /** Null = the whole server or database. */
  object: string | null;
  value: number;
}

/** Whether `measure_latest l` is older than three intervals of `connection_schedule`; one that only commands check has a day. */
export const staleMeasures = (schedule: string) =>
  `l.measured_at < now() - greatest(3 * coalesce(${schedule}.every, interval '8 h'), interval '5 min')`;

const selectMeasured = `
  select c.connection_id, c.name, c.engine, extract(epoch from l.measured_at)::float8 as measured_at,
         ${staleMeasures('s')} as is_stale,
         cardinality(l.series_ids) as count
    from connection c
    join measure_latest l on l.account_id = c.account_id and l.connection_id = c.connection_id
    left join connection_schedule s on s.account_id = c.account_id and s.connection_id = c.connection_id
   where c.account_id = $1 and c.removed_at is null
   order by c.connection_id`;

const selectValues = `
  select l.connection_id, s.series_id, s.check_id, s.metric, s.database, s.object, v.value
    from measure_latest l
   cross join lateral unnest(l.series_ids, l.values) with ordinality as v (series_id, value, n)
    join measure_series s
      on s.account_id = l.account_id and s.connection_id = l.connection_id and s.series_id = v.series_id
   where l.account_id = $1 and l.connection_id = any ($2::bigint[])
   order by l.connection_id, v.n
   limit $3`;

/**
 * Reads the latest values of an account's connections, at most `most`, in the order of the connections and without those
 * that are stale. Null if there is no such account.
 */
export async function latestOfAccount(
  read: Read,
  accountId: number,
  most: number,
): Promise<{ connections: MeasuredNow[]; values: AccountMeasure[] } | null> {
  const account = await read('select from account where account_id = $1', [accountId]);
  if (account.length === 0) return null;
  const connections = await read<MeasuredNow>(selectMeasured, [accountId]);
  const fresh = connections.filter(({ is_stale }) => !is_stale).map(({ connection_id }) => connection_id);
  return { connections, values: await read<AccountMeasure>(selectValues, [accountId, fresh, most]) };
}
