import { timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';

/** What a query did. Names come from the monitored server: render them as text. */
const ListedQuery = Type.Object({
  /** PostgreSQL: the queryid. MySQL: the digest. */
  query: Type.String(),
  /** '' = none. */
  database: Type.String(),
  /** '' = none: MySQL does not tell. */
  role: Type.String(),
  calls: Type.Number(),
  seconds: Type.Number(),
  /** Returned and changed. */
  rows: Type.Number(),
  /** PostgreSQL: blocks that were not in shared buffers. MySQL: rows examined. */
  read: Type.Number(),
  /** PostgreSQL: blocks in shared buffers. MySQL: 0. */
  hit: Type.Number(),
  /** PostgreSQL: bytes. MySQL: temporary tables on disk. */
  temporary: Type.Number(),
  /** Seconds of one call on each of the last 14 days, oldest first. */
  trend: Type.Array(nullable(Type.Number())),
});

export const ConnectionQueries = Type.Object({
  from: timestamp('the first hour begins at or before it'),
  to: timestamp('the end of the range'),
  /** Of all queries, listed or not. */
  all_calls: Type.Number(),
  all_seconds: Type.Number(),
  /** Most time first. */
  queries: Type.Array(ListedQuery),
  /** Of all queries of the range, at most 100 each; '' = none. */
  databases: Type.Array(Type.String()),
  roles: Type.Array(Type.String()),
  /** Of the sessions with a query that pulses saw, at most 100; '' = sessions without a name. */
  applications: Type.Array(Type.String()),
  /** Queries of dbvitals itself are left out: those of its login's role, in MySQL those that read only the server's catalogue. */
  hides_own: Type.Boolean(),
});

export const QueryTexts = Type.Object({
  /** Of the queries that have one. */
  texts: Type.Array(Type.Object({ query: Type.String(), text: Type.String() })),
});

/** An hour is missing if the query was not among those with the most time. */
export const QueryHistory = Type.Object({
  hours: Type.Array(
    Type.Object({
      /** When it began, in Unix seconds. */
      at: Type.Number(),
      calls: Type.Number(),
      seconds: Type.Number(),
      rows: Type.Number(),
      read: Type.Number(),
      hit: Type.Number(),
      temporary: Type.Number(),
    }),
  ),
});

export type ListedQuery = Static<typeof ListedQuery>;
/** GET /connections/:id/queries?from=&to=&limit=&database=&role=&application=&unnamed=&own= */
export type ConnectionQueries = Static<typeof ConnectionQueries>;
/** POST /connections/:id/queries/texts */
export type QueryTexts = Static<typeof QueryTexts>;
/** GET /connections/:id/queries/history?query=&database=&role=&from=&to= */
export type QueryHistory = Static<typeof QueryHistory>;
