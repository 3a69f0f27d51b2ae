import { readingQuery } from '../queries/reading-query.ts';
import { postgresQueries } from './query-engine.ts';

/** Queries that read 1,000 blocks for each row that they return. */
export const queryReads = readingQuery(
  'PG_QUERY_READS',
  {
    noun: 'blocks',
    metric: 'blocks_per_row_count',
    amount: ({ read, hit }) => read + hit,
    info: 1_000,
    minimum_read: 1_000,
  },
  postgresQueries,
);
