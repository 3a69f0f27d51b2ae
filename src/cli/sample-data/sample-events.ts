import type { ListedCheck } from '../command.ts';
import type { SampleConnection, SampleFleet } from './sample-connection.ts';
import { fleetRuns, type History, runInstant, SAMPLE_PORTS } from './sample-fleet.ts';
import type { SampleTicket } from './sample-tickets.ts';
import type { WrittenFleet } from './write-sample-fleet.ts';

/** A log entry about sample data; `at` is in microseconds since 1970. */
export interface SampleEvent {
  at: number;
  actionType: 'connection_added' | 'health_check_completed' | 'ticket_opened' | 'ticket_resolved';
  pagePath: string;
  properties: Record<string, unknown>;
}

/** A stored fleet. */
export interface StoredFleet extends SampleFleet, WrittenFleet {
  /** In the order in which the tickets opened. */
  ticketIds: Float64Array;
  /** The number of resolved tickets. */
  resolved: number;
  checks: ReadonlyMap<string, ListedCheck>;
}

/**
 * The newest `count` events of a fleet, in order of time. They are generated one by one, so that millions
 * take no memory.
 */
export function* fleetEvents(fleet: StoredFleet, history: History, count: number): Generator<SampleEvent> {
  if (count === 0) return;
  const { connections, runs } = fleet;
  let skipped = countEvents(fleet) - count;
  for (const [place, connection] of connections.entries()) {
    if (skipped-- <= 0) yield addedEvent(connection, fleet.connectionIds[place] ?? 0, history.start);
  }
  for (const { place, run, at, opened, resolved: ended } of fleetRuns(fleet, history)) {
    const connection_id = fleet.connectionIds[place] ?? 0;
    if (skipped-- <= 0) {
      yield runEvent(connection_id, fleet.runOf(place, run), at);
    }
    for (const ticket of opened) {
      if (skipped-- <= 0) yield ticketEvent(fleet, connection_id, ticket, at, {});
    }
    const connection = connections[place];
    if (!connection) throw new Error('A run has no connection.');
    for (const ticket of ended) {
      if (skipped-- > 0) continue;
      const opened_at = runInstant(connection, ticket.first, runs, history);
      const resolution_hours = Math.round((at - opened_at) / 36_000_000) / 100;
      yield ticketEvent(fleet, connection_id, ticket, at, { reason: 'no longer found', resolution_hours });
    }
  }
}

/** The total number of events of a fleet. */
export function countEvents({ connections, runs, ticketIds, resolved }: StoredFleet): number {
  return connections.length * (1 + runs) + ticketIds.length + resolved;
}

function addedEvent(
  { name, host, engine }: SampleConnection,
  connection_id: number,
  at: number,
): SampleEvent {
  return {
    at,
    actionType: 'connection_added',
    pagePath: `/connections/${connection_id}`,
    properties: { connection_id, name, host, port: SAMPLE_PORTS[engine], connection_type: 'direct' },
  };
}

function runEvent(
  connection_id: number,
  { id: health_check_id, score }: ReturnType<WrittenFleet['runOf']>,
  at: number,
): SampleEvent {
  const pagePath = `/health/connections/${connection_id}`;
  const properties = { connection_id, score, health_check_id };
  return { at, actionType: 'health_check_completed', pagePath, properties };
}

function ticketEvent(
  { ticketIds, checks }: StoredFleet,
  connection_id: number,
  { fault, number, severity }: SampleTicket,
  at: number,
  resolution: { reason?: string; resolution_hours?: number },
): SampleEvent {
  const ticket_id = ticketIds[number - 1] ?? 0;
  const { checkId: check_id } = fault;
  return {
    at,
    actionType: 'reason' in resolution ? 'ticket_resolved' : 'ticket_opened',
    pagePath: `/ops/tickets/${ticket_id}`,
    properties: {
      ticket_id,
      connection_id,
      check_id,
      severity,
      title: checks.get(check_id)?.title,
      ...resolution,
    },
  };
}
