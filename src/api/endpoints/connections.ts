import { endpoint } from '../../http/endpoint.ts';
import { Meta, pageLinks, pageMeta, pagingParameters, readPage } from '../../http/paging.ts';
import { identifier, openSet, score, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { Type } from '../../platform/schema/schema.ts';
import { CONNECTION_TYPES } from '../../vocabulary/connection-types.ts';
import {
  connectionFilter,
  connectionFilters,
  filterValues,
  hasChoice,
  type IncludedRow,
  includedColumns,
  includedFields,
  pickIncluded,
  readsTags,
} from './connection-fields.ts';

const Connection = Type.Object(
  {
    id: identifier('connection identifier'),
    name: Type.String({ description: 'connection name' }),
    host: Type.String({
      description: 'host address of the database; for unix_socket, the folder of the socket',
    }),
    port: Type.Integer({ minimum: 1, maximum: 65_535, description: 'listener port' }),
    connection_type: openSet(CONNECTION_TYPES, 'connection type'),
    latest_check_id: nullable(identifier('the most recent health check; null before the first')),
    score: nullable(score('latest health score; null before the first check')),
    last_checked_at: nullable(timestamp('time of the latest check; null before the first')),
    summary_text: nullable(
      Type.String({ description: 'short summary of its findings; null before the first check' }),
    ),
    ...includedFields,
  },
  { title: 'Connection', description: 'a monitored database' },
);

// First reads the page's ids from an index of the listed connections, then looks up only those. A page past the end is one row
// without an id.
const listConnections = (filter = '', more = { columns: '', fields: '' }) => `
  select n.total, l.*
    from (select count(*) as total
            from connection c
           where account_id = $1
             and removed_at is null${filter}) n
    left join lateral (
          select c.connection_id as id,
                 c.name,
                 c.host,
                 c.port,
                 c.connection_type,
                 c.latest_check_id,
                 h.score,
                 h.created_at as last_checked_at,
                 h.summary_text${more.fields}
            from (select connection_id
                    from connection c
                   where account_id = $1
                     and removed_at is null${filter}
                     and $3::bigint < n.total
                   order by connection_id
                   limit $2 offset $3) page
           cross join lateral (
                  select connection_id, name, host, port, connection_type, latest_check_id${more.columns}
                    from connection
                   where account_id = $1 and connection_id = page.connection_id
                   limit 1) c
            left join lateral (
                  select score, created_at, summary_text
                    from health_check
                   where account_id = $1 and health_check_id = c.latest_check_id
                   limit 1) h on true) l on true
   order by l.id`;

const allConnections = listConnections();
const chosenConnections = listConnections(connectionFilter(4), {
  columns: ', account_id, engine, provider',
  fields: `, ${includedColumns}`,
});

/** The fields of `include` are there only where the request filters or includes. */
interface ConnectionRow extends IncludedRow {
  total: number;
  id: number;
  name: string;
  host: string;
  port: number;
  connection_type: string;
  latest_check_id: number | null;
  score: number | null;
  last_checked_at: Date | null;
  summary_text: string | null;
}

function toConnection({ id, name, host, port, connection_type, ...run }: ConnectionRow) {
  const { latest_check_id, score, last_checked_at, summary_text } = run;
  return {
    id,
    name,
    host,
    port,
    connection_type,
    latest_check_id,
    score,
    last_checked_at: last_checked_at?.toISOString() ?? null,
    summary_text,
  };
}

/** Endpoint 1: every connection of the account with its latest score. */
export const connections = endpoint({
  path: '/health/connections',
  operationId: 'listConnections',
  summary: 'Connections with their latest score',
  description: 'Every connection of the account, by `id`; `meta` counts those that match the filters.',
  query: Type.Object({ ...connectionFilters, ...pagingParameters }),
  response: Type.Object({ data: Type.Array(Connection), meta: Meta }),
  reuse: 'kept',
  isFresh: readsTags,
  async answer(read, { accountId, query, url }) {
    const page = readPage(query);
    const offset = Math.min(page.offset, Number.MAX_SAFE_INTEGER);
    const isChosen = hasChoice(query);
    const rows = await read<ConnectionRow | { total: number; id: null }>(
      isChosen ? chosenConnections : allConnections,
      [accountId, page.perPage, offset, ...(isChosen ? filterValues(query) : [])],
    );
    const [{ total } = { total: 0 }] = rows;
    const data = rows
      .filter((row) => row.id !== null)
      .map((row) => ({ ...toConnection(row), ...(isChosen && pickIncluded(query.include, url, row)) }));
    return { body: { data, meta: pageMeta(page, total) }, link: pageLinks(url, page, total) };
  },
});
