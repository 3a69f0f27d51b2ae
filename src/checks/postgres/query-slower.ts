import { slowerQuery } from '../queries/slower-query.ts';
import { postgresQueries } from './query-engine.ts';

/** Queries that take three times as long as in the two weeks before. */
export const querySlower = slowerQuery('PG_QUERY_SLOWER', postgresQueries);
