import { Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { LOAD_DIMENSIONS, type LoadPart, listLoad } from '../../runs/load/list-load.ts';
import { readLoadHistory } from '../../runs/load/load-history.ts';
import { LOAD_DIMENSION_NAMES, type LoadDimension } from '../../vocabulary/load-dimensions.ts';
import { requireConnection } from '../connections/require-connection.ts';
import { historyRange, readHistoryRange } from '../history-range.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { ConnectionLoad } from './load-schemas.ts';

/** With the others, as many as a chart has colours. */
const PARTS = 5;

/** Parts of the whole range. */
const TOP = 10;

const getLoad = consoleRoute({
  method: 'GET',
  path: '/connections/:id/load',
  permission: 'health:read',
  query: Type.Object({
    by: Type.Optional(stringEnum(...LOAD_DIMENSION_NAMES)),
    query: Type.Optional(Type.String({ maxLength: 64, description: 'query must be the id of a query.' })),
    ...historyRange,
  }),
  response: ConnectionLoad,
  // Two weeks are four thousand rows with forty parts each.
  cost: 3,
  async handler({ actor: { accountId }, id, query, read }) {
    const range = { ...readHistoryRange(query, 1), limit: PARTS, query: query.query };
    return read(async (run) => {
      await requireConnection(run, accountId, id);
      const by = query.by ?? 'wait';
      const history = await readLoadHistory(run, [accountId, id], by, range);
      const top = await listLoad(run, accountId, id, by, { ...range, limit: TOP });
      return { ...history, top: top.map((part) => toTop(part, by)) };
    });
  },
});

function toTop(part: LoadPart, by: LoadDimension): ConnectionLoad['top'][number] {
  const { state, sessions } = part;
  const names = state === null ? [] : LOAD_DIMENSIONS[by].map((column) => part[column] ?? '');
  return { state, names, sessions };
}

/** The route that reads what the sessions of a server did. */
export const loadRoutes: ConsoleRoute[] = [getLoad];
