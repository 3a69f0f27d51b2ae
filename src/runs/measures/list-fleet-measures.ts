import type { Read } from '../../store/read.ts';
import { hasTags, tagsOfConnection } from '../../store/sql/connection-tags.sql.ts';
import type { LatestMeasure } from './list-measures.ts';

/** The latest value of a metric on a connection. */
export interface FleetMeasure extends Omit<LatestMeasure, 'limit' | 'forecast'> {
  connection_id: number;
  connection_name: string;
  tags: string[];
  measured_at: Date;
  /** When a forecast says that it is full; null = never, or there is no forecast. */
  full_at: Date | null;
}

/** A metric, on the connections that have all these tags; null = on all. */
interface FleetChoice {
  metric: string;
  tags: readonly string[] | null;
}

const series = `
    from measure_series s
    join connection c on c.account_id = $1 and c.connection_id = s.connection_id and c.removed_at is null
    join measure_latest l on l.account_id = $1 and l.connection_id = s.connection_id
   where s.account_id = $1 and s.metric = $2 and s.slot is not null
     and array_position(l.series_ids, s.series_id) is not null
     and ($3::text[] is null or ${hasTags('s.connection_id', '$3')})`;

const select = `
  select s.connection_id, c.name as connection_name, ${tagsOfConnection} as tags,
         s.series_id, s.check_id, s.metric, s.database, s.object,
         l.values[array_position(l.series_ids, s.series_id)] as value,
         l.operators[array_position(l.series_ids, s.series_id)] as operator,
         l.warnings[array_position(l.series_ids, s.series_id)] as warning,
         l.criticals[array_position(l.series_ids, s.series_id)] as critical,
         l.measured_at,
         (select f.full_at from measure_forecast f
           where f.account_id = $1 and f.connection_id = s.connection_id and f.series_id = s.series_id) as full_at
  ${series}
     and (s.connection_id, s.series_id) > ($4::bigint, $5::integer)
   order by s.connection_id, s.series_id
   limit $6 offset $7`;

const count = `select count(*) as total from (select ${series} limit $4) counted`;

/** The latest values of a metric by connection and series: those after `after`, without the first `offset` of them. */
export function listFleetMeasures(
  read: Read,
  accountId: number,
  { metric, tags }: FleetChoice,
  { after, limit, offset }: { after: readonly string[] | null; limit: number; offset: number },
): Promise<FleetMeasure[]> {
  const [connection, last] = after ?? ['0', '0'];
  return read(select, [accountId, metric, tags, connection, last, limit, offset]);
}

/** How many values there are, to `most` at most. */
export async function countFleetMeasures(
  read: Read,
  accountId: number,
  { metric, tags }: FleetChoice,
  most: number,
): Promise<number> {
  const [row] = await read<{ total: number }>(count, [accountId, metric, tags, most]);
  return row?.total ?? 0;
}
