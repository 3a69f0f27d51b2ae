import type { Read } from '../../store/read.ts';
import { hasTags } from '../../store/sql/connection-tags.sql.ts';
import { countAndTexts, readTexts, type TextRow } from '../../store/sql/records.sql.ts';

/** A metric, on the connections that have all these tags; null = on all. */
interface FleetChoice {
  metric: string;
  tags: readonly string[] | null;
}

// The place of a series in the arrays of the latest values is searched once: it costs as much as all else of a row.
const series = `
    from measure_series s
    join connection c on c.account_id = $1 and c.connection_id = s.connection_id and c.removed_at is null
    join measure_latest l on l.account_id = $1 and l.connection_id = s.connection_id
   cross join lateral (select array_position(l.series_ids, s.series_id) as n offset 0) place
   where s.account_id = $1 and s.metric = $2 and s.slot is not null
     and place.n is not null
     and ($3::text[] is null or ${hasTags('s.connection_id', '$3')})`;

// Tags and forecasts are joined to the page alone: a look-up for each row took as long as all else.
const page = countAndTexts(
  `select count(*) from (select ${series} limit $8) counted`,
  `
  select p.connection_id, p.name, to_json(coalesce(t.tags, '{}')), p.metric, p.metric, p.check_id, p.database, p.object, p.value, p.operator,
         p.warning, p.critical, p.measured_at, f.full_at, p.series_id
    from (select s.connection_id, c.name, s.metric, nullif(s.check_id, '') as check_id, nullif(s.database, '') as database, s.object,
                 l.values[place.n] as value, l.operators[place.n] as operator, l.warnings[place.n] as warning,
                 l.criticals[place.n] as critical, l.measured_at, s.series_id
          ${series}
             and (s.connection_id, s.series_id) > ($4::bigint, $5::integer)
           order by s.connection_id, s.series_id
           limit $6 offset $7) p
    left join connection_tags t on t.account_id = $1 and t.connection_id = p.connection_id
    left join measure_forecast f on f.account_id = $1 and f.connection_id = p.connection_id and f.series_id = p.series_id
   order by p.connection_id, p.series_id`,
);

/**
 * How many latest values of a metric there are, to `most` at most, and a page of them by connection and series: those after `after`,
 * without the first `offset` of them. The texts of a value: connection, name and tags (JSON); metric (twice), check (null = a vital),
 * database (null = the whole server) and object; value, operator, warning and critical threshold; when it was measured, when a forecast
 * says that it is full (null = never, or there is no forecast), and the series.
 */
export function listFleetMeasures(
  read: Read,
  accountId: number,
  { metric, tags }: FleetChoice,
  {
    after,
    limit,
    offset,
    most,
  }: { after: readonly string[] | null; limit: number; offset: number; most: number },
): Promise<[number, TextRow[]]> {
  const [connection, last] = after ?? ['0', '0'];
  return readTexts(read, page, [accountId, metric, tags, connection, last, limit, offset, most]);
}
