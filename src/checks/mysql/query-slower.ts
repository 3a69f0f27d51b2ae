import { slowerQuery } from '../queries/slower-query.ts';
import { mysqlQueries } from './query-engine.ts';

/** Queries that take three times as long as in the two weeks before. */
export const querySlower = slowerQuery('MY_QUERY_SLOWER', mysqlQueries);
