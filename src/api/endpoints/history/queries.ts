import { writtenEndpoint } from '../../../http/endpoint.ts';
import { Meta, pageLinks, pageMeta, pagingParameters, readPage } from '../../../http/paging.ts';
import { rangeParameters, readRange } from '../../../http/range-parameters.ts';
import { nullable } from '../../../platform/schema/nullable.ts';
import { type Static, Type } from '../../../platform/schema/schema.ts';
import { listTopQueries } from '../../../runs/queries/list-queries.ts';
import { NO_CONNECTION, readOfConnection } from '../path-connection.ts';
import { itemWriter, number, text, writeList } from '../write-records.ts';

const DAY_MS = 86_400_000;

const amount = (description: string) => Type.Number({ minimum: 0, description });

const Query = Type.Object(
  {
    query_id: Type.String({
      description: 'queryid of PostgreSQL or digest of MySQL, as text: it exceeds 2^53',
    }),
    database: nullable(Type.String({ description: 'database or default schema; null if there is none' })),
    role: nullable(Type.String({ description: 'role that ran it; null on MySQL, which does not tell' })),
    calls: amount('number of calls'),
    seconds: amount('time of all calls in seconds'),
    mean_seconds: amount('time of one call in seconds'),
    rows: amount('rows returned and changed'),
    reads: amount('PostgreSQL: blocks that were not in shared buffers; MySQL: rows examined'),
    hits: amount('PostgreSQL: blocks found in shared buffers; MySQL: 0'),
    temporary: amount('PostgreSQL: temporary bytes written; MySQL: temporary tables on disk'),
  },
  { title: 'Query', description: 'what a query did in a range of time' },
);

const writeQuery = itemWriter<Static<typeof Query>>({
  query_id: text,
  database: text,
  role: text,
  calls: number,
  seconds: number,
  mean_seconds: number,
  rows: number,
  reads: number,
  hits: number,
  temporary: number,
});

/** The queries of a connection that took the most time. */
export const queries = writtenEndpoint({
  path: '/health/connections/:id/queries',
  operationId: 'listQueries',
  summary: 'The queries of a connection, most time first',
  description:
    'By whole hours, by default the last 24; hours are kept for 14 days, each with its 50 queries of the most time. Texts of queries are never returned: `query_id` finds them on the server.',
  notFound: NO_CONNECTION,
  query: Type.Object({ ...rangeParameters, ...pagingParameters }),
  response: Type.Object({ data: Type.Array(Query), meta: Meta }),
  reuse: 'tagged',
  async write(read, { accountId, id, query, url }) {
    const { since, before } = readRange(query);
    const page = readPage(query);
    const to = before ?? new Date().toISOString();
    const from = since ?? new Date(Date.parse(to) - DAY_MS).toISOString();
    const offset = Math.min(page.offset, Number.MAX_SAFE_INTEGER);
    const range = { from, to, offset, limit: page.perPage };
    const [total, rows] = await readOfConnection(read, accountId, id, (connectionId) =>
      listTopQueries(read, accountId, connectionId, range),
    );
    const json = writeList(rows.map(writeQuery), pageMeta(page, total));
    return { json, link: pageLinks(url, page, total) };
  },
});
