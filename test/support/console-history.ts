import type { Pool } from 'pg';
import { changeAccount } from '../../src/activity/record-entry.ts';
import type { SeriesValue } from '../../src/checks/measure.ts';
import { storeChanges } from '../../src/runs/changes/store-changes.ts';
import { prepareMeasures, storeMeasures } from '../../src/runs/measures/store-measures.ts';

/** A connection of an account. */
interface Key {
  accountId: number;
  connectionId: number;
}

const levels = { operator: '>=', warning: 0.8, critical: 0.9 } as const;
const none = { operator: null, warning: null, critical: null } as const;

/** A vital sign and a number of a check. */
const historyMeasures = (value: number): SeriesValue[] => [
  { checkId: '', metric: 'transactions_per_second', database: '', object: null, value, ...none },
  {
    checkId: 'PG_CONN_SATURATION',
    metric: 'connections_used_ratio',
    database: '',
    object: null,
    value,
    ...levels,
  },
];

const insertRollups = `
  with hour as (
    insert into measure_hour (account_id, connection_id, series_id, day, last)
    select account_id, connection_id, series_id, day::date, array_fill($3::real, array[24])
      from measure_series, generate_series((now() - interval '5 days')::date, (now() - interval '1 day')::date, '1 day') day
     where account_id = $1 and connection_id = $2
    on conflict do nothing
  ), day as (
    insert into measure_day (account_id, connection_id, series_id, month, last)
    select account_id, connection_id, series_id, month::date, array_fill($3::real, array[28])
      from measure_series,
           generate_series(date_trunc('month', now() - interval '3 months'), now() - interval '1 month', '1 month') month
     where account_id = $1 and connection_id = $2
    on conflict do nothing
  )
  insert into measure_forecast (account_id, connection_id, series_id, made_at, per_day, per_day_low, per_day_high)
  select account_id, connection_id, series_id, now(), $3, $3, $3 from measure_series
   where account_id = $1 and connection_id = $2
  on conflict do nothing`;

/** Stores two runs of a connection's values, rollups, forecasts and two changes, all with the number `value` in them. */
export async function writeHistory(writer: Pool, key: Key, value: number): Promise<void> {
  for (const each of [value / 2, value]) {
    const prepared = await prepareMeasures(writer, key, historyMeasures(each));
    await changeAccount(writer, key.accountId, async ({ client, at }) => {
      await storeMeasures(client, { ...key, at }, prepared);
      const change = { kind: 'setting', database: '', subject: 'work_mem', source: 'file' } as const;
      await storeChanges(client, { ...key, at }, [{ ...change, before: String(each), after: String(value) }]);
    });
  }
  await writer.query(insertRollups, [key.accountId, key.connectionId, value]);
}
