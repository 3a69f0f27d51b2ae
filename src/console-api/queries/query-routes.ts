import { notFound } from '../../platform/rejection.ts';
import { Type } from '../../platform/schema/schema.ts';
import { listQueries } from '../../runs/queries/list-queries.ts';
import { readQueryText } from '../../runs/queries/read-query-text.ts';
import { requireConnection } from '../connections/require-connection.ts';
import { historyRange, readHistoryRange } from '../history-range.ts';
import { limitParameter, readLimit } from '../page-limit.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { ConnectionQueries, QueryText } from './query-schemas.ts';

const list = consoleRoute({
  method: 'GET',
  path: '/connections/:id/queries',
  permission: 'health:read',
  query: Type.Object({ ...historyRange, limit: limitParameter }),
  response: ConnectionQueries,
  // Two weeks are 16,800 queries.
  cost: 3,
  async handler({ actor: { accountId }, id, query, read }) {
    const range = readHistoryRange(query, 1);
    const limit = readLimit(query.limit);
    const found = await read(async (run) => {
      await requireConnection(run, accountId, id);
      return listQueries(run, accountId, id, { ...range, limit });
    });
    return { from: range.from.toISOString(), to: range.to.toISOString(), ...found };
  },
});

const WRONG_QUERY = 'query must be the id of a query, as the list has it.';

// A POST, because reading a text adds an entry to the log.
const readText = consoleRoute({
  method: 'POST',
  path: '/connections/:id/queries/text',
  permission: 'connections:write',
  body: Type.Object(
    { query: Type.String({ pattern: '^-?[0-9A-Fa-f]{1,64}$', description: WRONG_QUERY }) },
    { additionalProperties: false },
  ),
  response: QueryText,
  async handler({ body, change, id }) {
    const text = await readQueryText(change, id, body.query);
    if (text === null) throw notFound();
    return { text };
  },
});

/** The routes of what the queries of a connection did. */
export const queryRoutes: ConsoleRoute[] = [list, readText];
