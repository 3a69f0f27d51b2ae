import { readingQuery } from '../queries/reading-query.ts';
import { mysqlQueries } from './query-engine.ts';

/** Queries that examine 10,000 rows for each one that they return. */
export const queryReads = readingQuery(
  'MY_QUERY_READS',
  {
    noun: 'rows',
    metric: 'rows_examined_per_row_count',
    amount: ({ read }) => read,
    info: 10_000,
    minimum_read: 10_000,
  },
  mysqlQueries,
);
