import { newQuery } from '../queries/new-query.ts';
import { postgresQueries } from './query-engine.ts';

/** New queries that take a tenth of the time. */
export const queryNew = newQuery('PG_QUERY_NEW', postgresQueries);
