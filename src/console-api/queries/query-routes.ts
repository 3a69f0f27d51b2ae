import { Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { listQueries } from '../../runs/queries/list-queries.ts';
import { readQueryHistory } from '../../runs/queries/query-history.ts';
import { readQueryTexts } from '../../runs/queries/read-query-texts.ts';
import { requireConnection } from '../connections/require-connection.ts';
import { historyRange, readHistoryRange } from '../history-range.ts';
import { limitParameter, readLimit } from '../page-limit.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { ConnectionQueries, QueryHistory, QueryTexts } from './query-schemas.ts';

/** As long as the store keeps a name of a watched server. */
const serverName = (name: string) =>
  Type.Optional(
    Type.String({ maxLength: 100, description: `${name} must be a name of at most 100 characters.` }),
  );
const place = { database: serverName('database'), role: serverName('role') };

const list = consoleRoute({
  method: 'GET',
  path: '/connections/:id/queries',
  permission: 'health:read',
  query: Type.Object({
    ...historyRange,
    limit: limitParameter,
    ...place,
    application: serverName('application'),
    unnamed: Type.Optional(stringEnum('application')),
    own: Type.Optional(stringEnum('shown', 'hidden')),
  }),
  response: ConnectionQueries,
  // Two weeks are 16,800 queries.
  cost: 3,
  async handler({ actor: { accountId }, id, query, read }) {
    const range = readHistoryRange(query, 1);
    const { database, role, own } = query;
    const application = query.unnamed ? '' : query.application;
    const names = { database, role, application };
    const options = { ...range, ...names, limit: readLimit(query.limit), hidesOwn: own !== 'shown' };
    const found = await read(async (run) => {
      await requireConnection(run, accountId, id);
      return listQueries(run, accountId, id, options);
    });
    return { from: range.from.toISOString(), to: range.to.toISOString(), ...found };
  },
});

const WRONG_QUERY = 'query must be the id of a query, as the list has it.';
const queryId = Type.String({ pattern: '^-?[0-9A-Fa-f]{1,64}$', description: WRONG_QUERY });

const history = consoleRoute({
  method: 'GET',
  path: '/connections/:id/queries/history',
  permission: 'health:read',
  query: Type.Object({ query: queryId, ...historyRange, ...place }),
  response: QueryHistory,
  cost: 3,
  async handler({ actor: { accountId }, id, query, read }) {
    const range = readHistoryRange(query, 1);
    const { database, role } = query;
    return read(async (run) => {
      await requireConnection(run, accountId, id);
      return {
        hours: await readQueryHistory(run, [accountId, id], { query: query.query, database, role }, range),
      };
    });
  },
});

// A POST, because reading texts adds an entry to the log.
const readTexts = consoleRoute({
  method: 'POST',
  path: '/connections/:id/queries/texts',
  permission: 'connections:write',
  body: Type.Object(
    {
      queries: Type.Array(queryId, {
        minItems: 1,
        maxItems: 200,
        description: 'queries must be 1 to 200 ids of queries, as the list has them.',
      }),
    },
    { additionalProperties: false },
  ),
  response: QueryTexts,
  async handler({ actor: { accountId }, body, change, id, read }) {
    await read((run) => requireConnection(run, accountId, id));
    return { texts: await readQueryTexts(change, id, body.queries) };
  },
});

/** The routes of what the queries of a connection did. */
export const queryRoutes: ConsoleRoute[] = [list, history, readTexts];
