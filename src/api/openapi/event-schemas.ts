import { type TProperties, type TSchema, Type } from '../../platform/schema/schema.ts';
import type { EventKind } from '../../vocabulary/event-kinds.ts';
import { FLEET_STATUSES } from '../../vocabulary/score-bands.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';

/** An event. The format of the first five never changes (specification, section 6). */
interface EventSchema {
  kind: EventKind;
  /** When it is sent, as a clause. */
  trigger: string;
  /** The schema of the whole body. Its title names the format. */
  schema: TSchema;
}

const text = (description: string) => Type.String({ description });
const identifier = (description: string) =>
  Type.Integer({ format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description });
const timestamp = (description: string) => Type.String({ format: 'date-time', description });
const severity = Type.String({
  enum: [...SEVERITIES],
  description: 'severity of the finding',
});

const Finding = Type.Object({
  check_id: text('code of the check; an open set'),
  category: text('check category; an open set'),
  status: text('finding status; an open set'),
  title: text('human-readable title'),
  metric_line: text('measured value with recommendation'),
  remediation: text('suggested corrective statement'),
  severity: text('severity of the finding; an open set'),
});

const alert = {
  alert_id: identifier('alert identifier; the same when triggered and when resolved'),
  connection: Type.Object({
    id: identifier('connection identifier'),
    name: text('connection name'),
    host: text('host address of the database'),
    port: Type.Integer({ minimum: 1, maximum: 65_535, description: 'listener port' }),
    connection_type: text('how the database is reached; an open set'),
  }),
  metric: text('what was measured; an open set'),
  operator: text('how value and threshold are compared, such as >; an open set'),
  threshold: Type.Number({ description: 'the threshold that was exceeded' }),
  value: Type.Number({ description: 'the value that was measured' }),
  triggered_at: timestamp('time of the alert'),
};

const ticket = {
  ticket_id: identifier('ticket identifier'),
  connection_id: identifier('connection identifier'),
  check_id: text('code of the check that found it; an open set'),
  title: text('human-readable title'),
  severity,
  remediation: text('suggested corrective statement'),
  first_seen_at: timestamp('time of the check that found it first'),
};

const collector = {
  collector_id: identifier('identifier of the collector'),
  name: text('name of the collector'),
  connections: Type.Integer({ minimum: 0, description: 'how many connections it measures' }),
  last_contact_at: timestamp('time of its last request'),
};

/** The events that the specification plans, and those that a destination may choose in addition. */
export const EVENTS: readonly EventSchema[] = [
  event('HealthCheckCompleted', 'health_check.completed', 'a health check run finishes', {
    connection_id: identifier('connection identifier'),
    health_check_id: identifier('health check identifier'),
    score: Type.Integer({ minimum: 0, maximum: 100, description: 'health score' }),
    status: Type.String({
      enum: FLEET_STATUSES.filter((status) => status !== 'never_run'),
      description: 'status of the connection in the fleet',
    }),
    top_finding: Type.Union([Finding, Type.Null()], {
      description: 'the worst finding; null when all is well',
    }),
  }),
  event('TicketCreated', 'ops.ticket_created', 'a new finding appears among tickets', ticket),
  event('TicketResolved', 'ops.ticket_resolved', 'a finding is marked resolved', {
    ticket_id: identifier('ticket identifier'),
    connection_id: identifier('connection identifier'),
    title: text('human-readable title'),
    severity,
    first_seen_at: timestamp('time of the check that found it first'),
    resolved_at: timestamp('time of resolution'),
    resolution_hours: Type.Number({
      minimum: 0,
      description: 'hours from first seen to resolved, two decimals',
    }),
  }),
  event('AlertTriggered', 'alert.triggered', 'an autonomous monitoring alert fires', alert),
  event('AlertResolved', 'alert.resolved', 'a previously triggered alert clears', {
    ...alert,
    resolved_at: timestamp('time of resolution'),
  }),
  event('TicketReopened', 'ops.ticket_reopened', 'a finding whose ticket was resolved is back', ticket),
  event('TicketEscalated', 'ops.ticket_escalated', 'an open ticket gets a worse severity', {
    ...ticket,
    previous_severity: severity,
  }),
  event(
    'DestinationDisabled',
    'destination.disabled',
    'another destination is disabled, because it failed for days',
    {
      destination_id: identifier('identifier of the disabled destination'),
      name: text('name of the disabled destination'),
      channel: text('its channel; an open set'),
      reason: text('why it was disabled'),
      disabled_at: timestamp('time since which nothing is sent to it'),
    },
  ),
  event('ApiKeyExpiring', 'api_key.expiring', 'an API key expires soon: twice for each key', {
    api_key_id: identifier('identifier of the key'),
    name: text('name of the key'),
    last_four: text('the last four characters of the key'),
    expires_at: timestamp('end of its life'),
    last_used_at: Type.Unsafe<string | null>({
      ...timestamp('time of the last request; null = never used'),
      type: ['string', 'null'],
    }),
  }),
  event(
    'CollectorSilent',
    'collector.silent',
    'a collector was not heard of for a minute, so its connections are not measured',
    collector,
  ),
  event('CollectorReturned', 'collector.returned', 'a silent collector is heard of again', collector),
  event('Test', 'test', 'a member tests a destination', {
    destination_id: identifier('identifier of the tested destination'),
    name: text('name of the tested destination'),
    message: text('human-readable text'),
  }),
];

function event(title: string, kind: EventKind, trigger: string, data: TProperties): EventSchema {
  const schema = Type.Object(
    {
      event: Type.Literal(kind, { description: 'event kind' }),
      timestamp: timestamp('time of the event'),
      api_version: Type.Literal('v1', { description: 'the API version' }),
      data: Type.Object(data, { description: 'event-specific payload' }),
    },
    { title: `${title}Event`, description: `sent when ${trigger}` },
  );
  return { kind, trigger, schema };
}
