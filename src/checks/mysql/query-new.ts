import { newQuery } from '../queries/new-query.ts';
import { mysqlQueries } from './query-engine.ts';

/** New queries that take a tenth of the time. */
export const queryNew = newQuery('MY_QUERY_NEW', mysqlQueries);
