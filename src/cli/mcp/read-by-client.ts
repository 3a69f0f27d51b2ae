import { setTimeout as wait } from 'node:timers/promises';
import {
  type ActivityQuery,
  type AlertsQuery,
  type CallOptions,
  type ChangesQuery,
  type ConnectionsQuery,
  createClient,
  type DbvitalsClient,
  DbvitalsError,
  type EpisodesQuery,
  type FleetChangesQuery,
  type FleetMeasuresQuery,
  type FleetQuery,
  type LatestCheckQuery,
  type List,
  type MeasureHistoryQuery,
  type MeasuresQuery,
  type NumbersClient,
  type Page,
  type QueriesQuery,
  type SealsQuery,
  type TicketsQuery,
} from '../../../client/src/index.ts';
import type { ReadTool } from '../../api/mcp/mcp-server.ts';
import { failureText } from '../../api/mcp/tool-failure.ts';
import { version } from '../../platform/package-root.ts';

/**
 * An assistant can't wait by itself, so the tool waits up to this long. Its user waits too, so not for a whole
 * window.
 */
const LONGEST_WAIT_SECONDS = 10;

/** Reads what a tool call stands for from a service. */
export function readByClient(baseUrl: string, apiKey: string): ReadTool {
  const dbvitals = createClient({
    baseUrl,
    apiKey,
    retry: false,
    fetch(request) {
      request.headers.set('user-agent', `dbvitals-mcp/${version}`);
      return fetch(request);
    },
  });
  const calls = callsOf(dbvitals);
  return async (operationId, given, signal) => {
    const read = calls.get(operationId);
    if (read === undefined) throw new Error(`No call of the client is operation ${operationId}.`);
    try {
      return { answer: JSON.stringify(await readWithin(() => read(given, { signal }), signal)) };
    } catch (error) {
      if (!(error instanceof DbvitalsError)) throw error;
      return { failure: failureText(error) };
    }
  };
}

async function readWithin(read: () => Promise<object>, signal: AbortSignal): Promise<object> {
  try {
    return await read();
  } catch (error) {
    const seconds = error instanceof DbvitalsError && error.status === 429 ? error.retryAfter : null;
    if (seconds === null || seconds > LONGEST_WAIT_SECONDS) throw error;
    await wait(seconds * 1_000, undefined, { signal });
    return read();
  }
}

/** The parameters of an endpoint below a connection. */
type Of<Query> = Query & { id: number };

type Read<Given> = (given: Given, call: CallOptions) => Promise<object>;

type Given = Readonly<Record<string, unknown>>;

/** The client's call of each operation. */
function callsOf(dbvitals: DbvitalsClient): ReadonlyMap<string, Read<Given>> {
  const calls = new Map<string, Read<Given>>();
  const add: Add = <Arguments>(operationId: string, read: Read<Arguments>) =>
    // The arguments passed the schema of the operation, from which the client's types come too.
    void calls.set(operationId, (given, call) => read(given as Arguments, call));
  add<ConnectionsQuery>('listConnections', (query, call) => firstPage(dbvitals.connections(query, call)));
  add<Of<LatestCheckQuery>>('getLatestHealthCheck', async ({ id, ...query }, call) => ({
    data: await dbvitals.latestCheck(id, { ...query, ...call }),
  }));
  add<FleetQuery>('getFleet', (query, call) => dbvitals.fleet({ ...query, ...call }));
  add<TicketsQuery>('listTickets', (query, call) => firstPage(dbvitals.tickets(query, call)));
  add('getTicketStatistics', async (_nothing, call) => ({ data: await dbvitals.ticketStatistics(call) }));
  add<ActivityQuery>('listActivity', (query, call) => firstPage(dbvitals.activity(query, call)));
  add('listMembers', (_nothing, call) => firstPage(dbvitals.members(call)));
  add('listRoles', (_nothing, call) => firstPage(dbvitals.roles(call)));
  addNumbers(add, dbvitals);
  return calls;
}

type Add = <Arguments>(operationId: string, read: Read<Arguments>) => void;

/** The calls of measured values, changes, queries, episodes, alerts and seals. */
function addNumbers(add: Add, dbvitals: NumbersClient): void {
  add<Of<MeasuresQuery>>('listMeasures', ({ id, ...query }, call) =>
    firstPage(dbvitals.measures(id, query, call)),
  );
  add<Of<MeasureHistoryQuery>>('listMeasureHistory', ({ id, ...query }, call) =>
    dbvitals.measureHistory(id, query, call),
  );
  add<FleetMeasuresQuery>('listFleetMeasures', (query, call) =>
    firstPage(dbvitals.fleetMeasures(query, call)),
  );
  add<Of<ChangesQuery>>('listChanges', ({ id, ...query }, call) =>
    firstPage(dbvitals.changes(id, query, call)),
  );
  add<FleetChangesQuery>('listFleetChanges', (query, call) => firstPage(dbvitals.fleetChanges(query, call)));
  add<Of<QueriesQuery>>('listQueries', ({ id, ...query }, call) =>
    firstPage(dbvitals.queries(id, query, call)),
  );
  add<Of<EpisodesQuery>>('listEpisodes', ({ id, ...query }, call) =>
    firstPage(dbvitals.episodes(id, query, call)),
  );
  add<AlertsQuery>('listAlerts', (query, call) => firstPage(dbvitals.alerts(query, call)));
  add<SealsQuery>('listSeals', (query, call) => firstPage(dbvitals.seals(query, call)));
}

async function firstPage<Item, Meta>(list: List<Item, Meta>): Promise<Page<Item, Meta>> {
  for await (const page of list.pages()) return page;
  throw new Error('A list has at least one page.');
}
