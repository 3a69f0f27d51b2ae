import type { Client } from 'openapi-fetch';
import { type Answer, ask, type How } from './ask.ts';
import type { CallOptions } from './client.ts';
import { type List, list, type Page } from './list.ts';
import type { NumbersClient } from './numbers-client.ts';
import type * as records from './records.ts';
import type { paths } from './schema.ts';

/** The largest page: the fewest requests. */
const PAGE = { per_page: 100 };

/** The calls of a client. */
export function createNumbers(api: Client<paths>, how: (options: CallOptions) => How): NumbersClient {
  /** A list of a connection, or of the account. `path` is one of a list. */
  const listOf = <Item, Meta extends records.Meta | records.KeysetMeta>(
    path: keyof paths,
    parameters: { id?: number; query?: object },
    call: CallOptions,
  ): List<Item, Meta> => {
    const { id, query = {} } = parameters;
    return list<Item, Meta>(
      (place) =>
        ask(
          (init) =>
            // The types of a path that varies can't be told apart; those of the calls are checked above.
            api.GET(path as '/api/v1/health/connections/{id}/changes', {
              ...init,
              // A path without an identifier leaves it out.
              params: { path: { id: id ?? 0 }, query: { ...PAGE, ...query, ...place } },
            }) as unknown as Promise<{ data?: Page<Item, Meta>; error?: unknown; response: Response }>,
          how(call),
        ) as Promise<Answer<Page<Item, Meta>>>,
    );
  };
  const ofConnection = '/api/v1/health/connections/{id}' as const;
  return {
    // All in one answer, so that all are of one run.
    measures: (id, query = {}, call = {}) =>
      listOf(`${ofConnection}/measures`, { id, query: { per_page: undefined, ...query } }, call),
    async measureHistory(id, query, call = {}) {
      const { body } = await ask(
        (init) => api.GET(`${ofConnection}/measures/history`, { ...init, params: { path: { id }, query } }),
        how(call),
      );
      return body;
    },
    fleetMeasures: (query, call = {}) => listOf('/api/v1/health/measures', { query }, call),
    changes: (id, query = {}, call = {}) => listOf(`${ofConnection}/changes`, { id, query }, call),
    fleetChanges: (query = {}, call = {}) => listOf('/api/v1/health/changes', { query }, call),
    queries: (id, query = {}, call = {}) => listOf(`${ofConnection}/queries`, { id, query }, call),
    episodes: (id, query = {}, call = {}) => listOf(`${ofConnection}/episodes`, { id, query }, call),
    alerts: (query = {}, call = {}) => listOf('/api/v1/ops/alerts', { query }, call),
    seals: (query = {}, call = {}) => listOf('/api/v1/activity/seals', { query }, call),
  };
}
