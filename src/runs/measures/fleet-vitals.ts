import type { Read } from '../../store/read.ts';
import { staleMeasures } from './latest-of-account.ts';

/** Vitals of the latest run of a connection; null = it has none. */
export interface FleetVitals {
  id: number;
  transactions: number | null;
  queries: number | null;
  /** Of a replica, in seconds; of several sources, the one furthest behind. */
  lag: number | null;
}

const value = `l.values[array_position(l.series_ids, s.series_id)]`;
const of = (metric: string) => `max(${value}) filter (where s.metric = '${metric}')`;

const select = `
  select l.connection_id as id, ${of('transactions_per_second')} as transactions, ${of('queries_per_second')} as queries,
         ${of('replication_lag_seconds')} as lag
    from measure_latest l
    join connection c on c.account_id = l.account_id and c.connection_id = l.connection_id and c.removed_at is null
    left join connection_schedule k on k.account_id = l.account_id and k.connection_id = l.connection_id
    join measure_series s
      on s.account_id = $1 and s.connection_id = l.connection_id and s.check_id = ''
     and s.metric in ('transactions_per_second', 'queries_per_second', 'replication_lag_seconds')
   where l.account_id = $1 and not (${staleMeasures('k')})
   group by l.connection_id`;

/** Throughput and lag of each connection of an account that was measured as often as it should be. */
export function readFleetVitals(read: Read, accountId: number): Promise<FleetVitals[]> {
  return read<FleetVitals>(select, [accountId]);
}
