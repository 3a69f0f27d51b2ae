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

/** The fleet: every connection with its status, and how many there are of each. */
export interface Fleet {
  data: FleetEntry[];
  summary: FleetSummary;
}

type Query<Operation extends keyof operations> = NonNullable<operations[Operation]['parameters']['query']>;

export type ConnectionsQuery = Query<'listConnections'>;
export type TicketsQuery = Query<'listTickets'>;
export type ActivityQuery = Query<'listActivity'>;

export type HealthCheckCompletedEvent = Schemas['HealthCheckCompletedEvent'];
export type TicketCreatedEvent = Schemas['TicketCreatedEvent'];
export type TicketResolvedEvent = Schemas['TicketResolvedEvent'];
export type AlertTriggeredEvent = Schemas['AlertTriggeredEvent'];
export type AlertResolvedEvent = Schemas['AlertResolvedEvent'];
export type TicketReopenedEvent = Schemas['TicketReopenedEvent'];
export type TicketEscalatedEvent = Schemas['TicketEscalatedEvent'];
export type DestinationDisabledEvent = Schemas['DestinationDisabledEvent'];
export type ApiKeyExpiringEvent = Schemas['ApiKeyExpiringEvent'];
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
  | TestEvent;
