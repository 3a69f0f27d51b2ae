import type { components, operations } from './schema.ts';

type Schemas = components['schemas'];

export type Meta = Schemas['Meta'];
export type Connection = Schemas['Connection'];
export type HealthCheckResult = Schemas['HealthCheckResult'];
export type CheckFinding = Schemas['CheckFinding'];
export type FleetEntry = Schemas['FleetEntry'];
export type FleetSummary = Schemas['FleetSummary'];
export type Ticket = Schemas['Ticket'];
export type TicketStatistics = Schemas['TicketStatistics'];
export type ActivityEntry = Schemas['ActivityEntry'];
export type Member = Schemas['Member'];
export type Role = Schemas['Role'];
export type KeysetMeta = Schemas['KeysetMeta'];
export type TicketMeta = Schemas['TicketMeta'];
export type Measure = Schemas['Measure'];
export type MeasurePoint = Schemas['MeasurePoint'];
export type FleetMeasure = Schemas['FleetMeasure'];
export type Change = Schemas['Change'];
export type FleetChange = Schemas['FleetChange'];
export type Query = Schemas['Query'];
export type Episode = Schemas['Episode'];
export type Alert = Schemas['Alert'];
export type Seal = Schemas['Seal'];

/** The history of a metric: points of each series, oldest first. */
export interface MeasureHistory {
  data: MeasurePoint[];
  meta: Schemas['HistoryMeta'];
}

/** The fleet: every connection with its status, and how many there are of each. */
export interface Fleet {
  data: FleetEntry[];
  summary: FleetSummary;
}

type QueryOf<Operation extends keyof operations> = NonNullable<operations[Operation]['parameters']['query']>;

export type ConnectionsQuery = QueryOf<'listConnections'>;
export type LatestCheckQuery = QueryOf<'getLatestHealthCheck'>;
export type FleetQuery = QueryOf<'getFleet'>;
export type TicketsQuery = QueryOf<'listTickets'>;
/** `action_type` may also be several. */
export type ActivityQuery = Omit<QueryOf<'listActivity'>, 'action_type'> & {
  action_type?: string | readonly string[];
};
export type MeasureHistoryQuery = QueryOf<'listMeasureHistory'>;
export type FleetMeasuresQuery = QueryOf<'listFleetMeasures'>;
export type ChangesQuery = QueryOf<'listChanges'>;
export type FleetChangesQuery = QueryOf<'listFleetChanges'>;
export type MeasuresQuery = QueryOf<'listMeasures'>;
export type QueriesQuery = QueryOf<'listQueries'>;
export type EpisodesQuery = QueryOf<'listEpisodes'>;
export type AlertsQuery = QueryOf<'listAlerts'>;
export type SealsQuery = QueryOf<'listSeals'>;

export type HealthCheckCompletedEvent = Schemas['HealthCheckCompletedEvent'];
export type TicketCreatedEvent = Schemas['TicketCreatedEvent'];
export type TicketResolvedEvent = Schemas['TicketResolvedEvent'];
export type AlertTriggeredEvent = Schemas['AlertTriggeredEvent'];
export type AlertResolvedEvent = Schemas['AlertResolvedEvent'];
export type TicketReopenedEvent = Schemas['TicketReopenedEvent'];
export type TicketEscalatedEvent = Schemas['TicketEscalatedEvent'];
export type DestinationDisabledEvent = Schemas['DestinationDisabledEvent'];
export type ApiKeyExpiringEvent = Schemas['ApiKeyExpiringEvent'];
export type CollectorSilentEvent = Schemas['CollectorSilentEvent'];
export type CollectorReturnedEvent = Schemas['CollectorReturnedEvent'];
export type TestEvent = Schemas['TestEvent'];

/** The body of a webhook, told apart by `event`. Expect new kinds. */
export type DbvitalsEvent =
  | HealthCheckCompletedEvent
  | TicketCreatedEvent
  | TicketResolvedEvent
  | AlertTriggeredEvent
  | AlertResolvedEvent
  | TicketReopenedEvent
  | TicketEscalatedEvent
  | DestinationDisabledEvent
  | ApiKeyExpiringEvent
  | CollectorSilentEvent
  | CollectorReturnedEvent
  | TestEvent;
