import { Rejection } from '../../platform/rejection.ts';
import { Type } from '../../platform/schema/schema.ts';
import { listMeasures } from '../../runs/measures/list-measures.ts';
import { readHistory } from '../../runs/measures/read-history.ts';
import { requireConnection } from '../connections/require-connection.ts';
import { historyRange, readHistoryRange } from '../history-range.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { ConnectionHistory, ConnectionMeasures } from './measure-schemas.ts';
import { named } from './series-names.ts';

const listLatest = consoleRoute({
  method: 'GET',
  path: '/connections/:id/measures',
  permission: 'health:read',
  response: ConnectionMeasures,
  async handler({ actor: { accountId }, id, read }) {
    const latest = await read(async (run) => {
      await requireConnection(run, accountId, id);
      return listMeasures(run, accountId, id);
    });
    const { measured_at = null, dropped = 0, measures = [] } = latest ?? {};
    return { measured_at, dropped, measures: measures.map(named) };
  },
});

const MOST_SERIES = 12;
const wrongSeries = `series must be 1 to ${MOST_SERIES} numbers of series, separated by commas.`;

const getHistory = consoleRoute({
  method: 'GET',
  path: '/connections/:id/history',
  permission: 'health:read',
  query: Type.Object({
    series: Type.Optional(
      Type.String({
        pattern: `^[1-9][0-9]{0,8}(?:,[1-9][0-9]{0,8}){0,${MOST_SERIES - 1}}$`,
        description: wrongSeries,
      }),
    ),
    ...historyRange,
  }),
  response: ConnectionHistory,
  // Twelve series of a day read up to a thousand pages of the store.
  cost: 3,
  async handler({ actor: { accountId }, id, query, read }) {
    if (query.series === undefined) {
      throw new Rejection('invalid_parameter', wrongSeries, { parameter: 'series' });
    }
    const range = readHistoryRange(query, 1);
    const wanted = query.series.split(',').map(Number);
    const series = await read(async (run) => {
      await requireConnection(run, accountId, id);
      return readHistory(run, accountId, id, { series: wanted, ...range });
    });
    return { from: range.from.toISOString(), to: range.to.toISOString(), series };
  },
});

/** The routes that read the measured values of a connection. */
export const measureRoutes: ConsoleRoute[] = [listLatest, getHistory];
