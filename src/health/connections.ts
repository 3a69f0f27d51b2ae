import { Type } from 'typebox';
import { endpoint, nullable } from '../http/endpoint.ts';
import { Meta, pageLinks, pageMeta, pagingParameters, readPage } from '../http/paging.ts';

const Connection = Type.Object({
  id: Type.Integer({ description: 'connection identifier' }),
  name: Type.String({ description: 'connection name' }),
  host: Type.String({
    description: 'host address of the database; the folder of its socket for unix_socket',
  }),
  port: Type.Integer({ description: 'listener port' }),
  connection_type: Type.String({ description: 'direct, ssh_tunnel or unix_socket; more may come' }),
  latest_check_id: nullable(
    Type.Integer({ description: 'the most recent health check; null before the first' }),
  ),
  score: nullable(Type.Integer({ description: 'latest health score, 0 to 100' })),
  last_checked_at: nullable(Type.String({ format: 'date-time', description: 'time of the latest check' })),
  summary_text: nullable(Type.String({ description: 'short summary of its findings' })),
});

const countConnections = `
  select count(*) as total
    from connection
   where account_id = $1
     and removed_at is null`;

const listConnections = `
  select c.connection_id as id,
         c.name,
         c.host,
         c.port,
         c.connection_type,
         c.latest_check_id,
         h.score,
         h.created_at as last_checked_at,
         h.summary_text
    from connection c
    left join health_check h on h.account_id = c.account_id and h.health_check_id = c.latest_check_id
   where c.account_id = $1
     and c.removed_at is null
   order by c.connection_id
   limit $2 offset $3`;

interface ConnectionRow {
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

/** Endpoint 1: every connection of the account with its latest score. */
export const connections = endpoint({
  path: '/health/connections',
  summary: 'Connections with their latest score',
  query: Type.Object(pagingParameters),
  response: Type.Object({ data: Type.Array(Connection), meta: Meta }),
  reuse: 'kept',
  async answer(read, { accountId, query, url }) {
    const page = readPage(query);
    const [count] = await read<{ total: number }>(countConnections, [accountId]);
    const total = count?.total ?? 0;
    const rows =
      page.offset < total
        ? await read<ConnectionRow>(listConnections, [accountId, page.perPage, page.offset])
        : [];
    const data = rows.map((row) => ({ ...row, last_checked_at: row.last_checked_at?.toISOString() ?? null }));
    return { body: { data, meta: pageMeta(page, total) }, link: pageLinks(url, page, total) };
  },
});
