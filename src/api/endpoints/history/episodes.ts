import { writtenEndpoint } from '../../../http/endpoint.ts';
import { Meta, pageLinks, pageMeta, pagingParameters, readPage } from '../../../http/paging.ts';
import { rangeParameters } from '../../../http/range-parameters.ts';
import { count, openSet, timestamp } from '../../../platform/schema/fields.ts';
import { nullable } from '../../../platform/schema/nullable.ts';
import { type Static, Type } from '../../../platform/schema/schema.ts';
import type { Deadlock } from '../../../runs/episodes/deadlock.ts';
import { listIncidents } from '../../../runs/episodes/list-incidents.ts';
import { NO_CONNECTION, readOfConnection } from '../path-connection.ts';
import { instant, itemWriter, number, raw, text, type WriteValue, writeList } from '../write-records.ts';
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

const writeTransactions: WriteValue = (value) => {
  const transactions: Deadlock['transactions'] = value === null ? [] : JSON.parse(value);
  return JSON.stringify(
    transactions.map(({ digest, command, tables, is_victim }) => ({
      query_id: digest,
      command,
      tables,
      is_victim,
    })),
  );
};

const writeEpisode = itemWriter<Static<typeof Episode>>({
  kind: text,
  began_at: instant,
  seen_at: instant,
  ended_at: instant,
  database: text,
  role: text,
  application: text,
  most_sessions: raw,
  longest_seconds: number,
  lost_seconds: number,
  transactions: writeTransactions,
});

/** When sessions of a connection blocked others, and deadlocks. */
export const episodes = writtenEndpoint({
  path: '/health/connections/:id/episodes',
  operationId: 'listEpisodes',
  summary: 'When sessions of a connection blocked others, and deadlocks',
  description:
    'By `began_at`, latest first; `from` and `to` apply to it. At most the latest 1,000 of each kind, for 90 days. Deadlocks are those of MySQL and MariaDB; PostgreSQL only counts them.',
  notFound: NO_CONNECTION,
  query: Type.Object({ ...rangeParameters, ...pagingParameters }),
  response: Type.Object({ data: Type.Array(Episode), meta: Meta }),
  reuse: 'tagged',
  async write(read, { accountId, id, query, url }) {
    const page = readPage(query);
    const offset = Math.min(page.offset, Number.MAX_SAFE_INTEGER);
    const wanted = { ...readInfiniteRange(query), offset, limit: page.perPage };
    const [total, rows] = await readOfConnection(read, accountId, id, (connectionId) =>
      listIncidents(read, accountId, connectionId, wanted),
    );
    const json = writeList(rows.map(writeEpisode), pageMeta(page, total));
    return { json, link: pageLinks(url, page, total) };
  },
});
