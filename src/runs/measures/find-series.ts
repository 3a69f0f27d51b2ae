import type { Read } from '../../store/read.ts';
import { type SeriesPlace, seriesPlace } from './read-history.ts';

/** A series of a connection, also one that is no longer measured. */
export interface NamedSeries {
  series_id: number;
  /** '' = a vital. */
  check_id: string;
  metric: string;
  /** '' = the whole server. */
  database: string;
  /** Null = the whole server or database. */
  object: string | null;
}

/** A series, and where its values are. */
export interface PlacedSeries extends NamedSeries, SeriesPlace {}

const selectSeries = `
  select series_id, check_id, metric, database, object, ${seriesPlace}
    from measure_series
   where account_id = $1 and connection_id = $2
     and metric = $3
     and ($4::text is null or database = $4)
     and ($5::text is null or object = $5)
   order by check_id, database, object, series_id`;

/** The series of a metric, by check, database and object; `database` and `object` select some of them. */
export function findSeries(
  read: Read,
  [accountId, connectionId]: readonly [accountId: number, connectionId: number],
  { metric, database, object }: { metric: string; database?: string; object?: string },
): Promise<PlacedSeries[]> {
  return read(selectSeries, [accountId, connectionId, metric, database ?? null, object ?? null]);
}

/** The names of all metrics that a connection has. */
export async function metricsOf(read: Read, accountId: number, connectionId: number): Promise<string[]> {
  const rows = await read<{ metric: string }>(
    'select distinct metric from measure_series where account_id = $1 and connection_id = $2',
    [accountId, connectionId],
  );
  return rows.map(({ metric }) => metric);
}
