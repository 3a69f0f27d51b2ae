import { endpoint } from '../../../http/endpoint.ts';
import { Meta, pageLinks, pageMeta, pagingParameters, readPage } from '../../../http/paging.ts';
import { rangeParameters } from '../../../http/range-parameters.ts';
import { count, openSet, timestamp } from '../../../platform/schema/fields.ts';
import { nullable } from '../../../platform/schema/nullable.ts';
import { Type } from '../../../platform/schema/schema.ts';
import { listIncidents } from '../../../runs/episodes/list-incidents.ts';
import { orNull } from '../or-null.ts';
import { NO_CONNECTION, readOfConnection } from '../path-connection.ts';
import { readInfiniteRange } from './changes.ts';

const who = (description: string) =>
  nullable(Type.String({ description: `${description}; null if it is unknown` }));

const Episode = Type.Object(
  {
    kind: openSet(['blocking', 'deadlock'], 'kind of the episode'),
    began_at: timestamp('when the first wait began'),
    seen_at: timestamp('when it was seen last'),
    ended_at: nullable(
      timestamp('when it ended, or was seen last if no monitor looks any more; null while it goes on'),
    ),
    database: who('database of the session that blocked others'),
    role: who('role of that session'),
    application: who('application of that session'),
    most_sessions: count('how many sessions it blocked at once, at most; of a deadlock, its transactions'),
    longest_seconds: nullable(
      Type.Number({ minimum: 0, description: 'longest wait in seconds; null of a deadlock' }),
    ),
    lost_seconds: nullable(
      Type.Number({
        minimum: 0,
        description: 'time that all blocked sessions lost, in seconds; null of a deadlock',
      }),
    ),
    transactions: Type.Array(
      Type.Object({
        query_id: Type.String({ description: 'digest of its statement; never a text' }),
        command: Type.String({ description: 'first word of its statement; empty if it is unknown' }),
        tables: Type.Array(Type.String(), { description: 'what it locked or waited for' }),
        is_victim: Type.Boolean({ description: 'true if the server rolled it back' }),
      }),
      { description: 'transactions of a deadlock; empty for a blocking episode' },
    ),
  },
  { title: 'Episode', description: 'a time in which a session blocked others, or a deadlock' },
);

/** When sessions of a connection blocked others, and deadlocks. */
export const episodes = endpoint({
  path: '/health/connections/:id/episodes',
  operationId: 'listEpisodes',
  summary: 'When sessions of a connection blocked others, and deadlocks',
  description:
    'By `began_at`, latest first; `from` and `to` apply to it. At most the latest 1,000 of each kind, for 90 days. Deadlocks are those of MySQL and MariaDB; PostgreSQL only counts them.',
  notFound: NO_CONNECTION,
  query: Type.Object({ ...rangeParameters, ...pagingParameters }),
  response: Type.Object({ data: Type.Array(Episode), meta: Meta }),
  reuse: 'tagged',
  async answer(read, { accountId, id, query, url }) {
    const range = readInfiniteRange(query);
    const page = readPage(query);
    const offset = Math.min(page.offset, Number.MAX_SAFE_INTEGER);
    const asked = { ...range, offset, limit: page.perPage };
    const { total, incidents } = await readOfConnection(read, accountId, id, (connectionId) =>
      listIncidents(read, accountId, connectionId, asked),
    );
    const data = incidents.map((incident) => ({
      kind: incident.kind,
      began_at: incident.began_at.toISOString(),
      seen_at: incident.seen_at.toISOString(),
      ended_at: incident.ended_at?.toISOString() ?? null,
      database: orNull(incident.database),
      role: orNull(incident.role),
      application: orNull(incident.application),
      most_sessions: incident.most_sessions,
      longest_seconds: incident.longest_seconds,
      lost_seconds: incident.lost_seconds,
      transactions:
        incident.transactions?.map(({ digest, ...transaction }) => ({ query_id: digest, ...transaction })) ??
        [],
    }));
    return { body: { data, meta: pageMeta(page, total) }, link: pageLinks(url, page, total) };
  },
});
