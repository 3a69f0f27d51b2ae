import {
  CHOOSABLE_KINDS,
  HEARTBEAT_METHODS,
  MOST_DESTINATIONS,
  SIGNATURES,
} from '../../notifications/destinations/destination-input.ts';
import type { DestinationRow } from '../../notifications/destinations/destination-row.ts';
import { DigestSchedule } from '../../notifications/digest/digest-schedule.ts';
import {
  ACTOR_TYPES,
  STREAM_FORMATS,
  type StreamInput,
} from '../../notifications/log-streams/stream-input.ts';
import { QuietHours } from '../../notifications/maintenance/quiet-hours.ts';
import { count, identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { CHANNELS } from '../../vocabulary/channels.ts';
import { EVENT_KINDS } from '../../vocabulary/event-kinds.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import { singleLine, singleLineOrEmpty } from '../single-line.ts';

const Recipient = Type.Object({
  email: Type.String(),
  state: stringEnum('unconfirmed', 'confirmed', 'unsubscribed'),
  asked_at: nullable(timestamp('when the link to confirm was last sent')),
  confirmed_at: nullable(timestamp('when it was followed')),
});

export const Destination = Type.Object({
  id: identifier('destination'),
  name: Type.String(),
  channel: stringEnum(...CHANNELS),
  target: Type.String({ description: 'what may be shown of its address' }),
  settings: Type.Record(Type.String(), Type.Unknown()),
  kinds: Type.Array(stringEnum(...EVENT_KINDS)),
  kinds_not_in_plan: Type.Array(stringEnum(...EVENT_KINDS)),
  minimum_severity: nullable(stringEnum(...SEVERITIES)),
  connections: Type.Object({
    ids: nullable(Type.Array(Type.Integer())),
    names: nullable(Type.Array(Type.String())),
  }),
  requests_per_second: Type.Integer(),
  quiet_hours: nullable(Type.Object({ from: Type.String(), to: Type.String(), time_zone: Type.String() })),
  digest: nullable(DigestSchedule),
  next_digest_at: nullable(timestamp('when the next digest is sent')),
  state: stringEnum('enabled', 'disabled', 'paused'),
  state_reason: nullable(Type.String()),
  state_since: timestamp('since when it is in this state'),
  created_at: timestamp('time of creation'),
  queue: Type.Object({
    queued: count('deliveries that have not ended'),
    dropped: count('completed health checks that were dropped, because too many were queued'),
    last_sequence: count('number of the newest delivery'),
    epoch: Type.String(),
    failing_since: nullable(timestamp('the first failed attempt since the last success')),
    last_success_at: nullable(timestamp('the last accepted attempt')),
    last_attempt_at: nullable(timestamp('the last attempt')),
    last_result: nullable(Type.String({ description: 'of the last attempt' })),
  }),
  recipients: Type.Array(Recipient),
  stream: nullable(
    Type.Object({
      format: stringEnum(...STREAM_FORMATS),
      action_types: nullable(Type.Array(Type.String())),
      excluded_types: Type.Array(Type.String()),
      actors: nullable(Type.Array(Type.String())),
      next_id: Type.Integer({ description: 'the first entry that was not delivered' }),
      behind_entries: count('entries that are to be sent'),
      behind_seconds: count('the age of the first of them'),
      entries: count('that were accepted'),
      delivered_at: nullable(Type.String({ description: 'when the last batch was accepted' })),
    }),
  ),
});

export type Destination = Static<typeof Destination>;

/** GET /destinations */
export const Destinations = Type.Object({
  items: Type.Array(Destination, { description: 'ordered by id' }),
  limits: Type.Object({ most: Type.Integer({ maximum: MOST_DESTINATIONS }) }),
  channels: Type.Array(stringEnum(...CHANNELS), {
    description: 'email only if the service has an SMTP server',
  }),
  sending: Type.Object({ privateAllowed: Type.Boolean() }),
});

const types = Type.Array(Type.String({ maxLength: 63 }), { maxItems: 200 });

const fields = {
  name: singleLine(200, 'Enter a name of 1 to 200 characters.'),
  url: Type.Optional(Type.String({ maxLength: 4_000, description: 'Enter a URL.' })),
  routing_key: Type.Optional(singleLineOrEmpty(200, 'Enter the integration key of PagerDuty.')),
  authorization: Type.Optional(
    singleLineOrEmpty(2_000, 'Enter the value of the Authorization header, at most 2000 characters.'),
  ),
  recipients: Type.Optional(
    Type.Array(Type.String({ maxLength: 254 }), { maxItems: 100, description: 'Enter e-mail addresses.' }),
  ),
  kinds: Type.Optional(
    Type.Array(Type.Unsafe<(typeof EVENT_KINDS)[number]>({ type: 'string', enum: CHOOSABLE_KINDS }), {
      maxItems: 100,
      description: `Choose kinds from ${CHOOSABLE_KINDS.join(', ')}.`,
    }),
  ),
  minimum_severity: Type.Optional(
    Type.Union([stringEnum(...SEVERITIES), Type.Null()], {
      description: `Choose ${SEVERITIES.join(', ')}, or null for all.`,
    }),
  ),
  connection_ids: Type.Optional(
    Type.Union([Type.Array(identifier('connection'), { maxItems: 2_000 }), Type.Null()], {
      description: 'Give the ids of connections, or null for all.',
    }),
  ),
  connection_names: Type.Optional(
    Type.Union([Type.Array(singleLine(200, ''), { minItems: 1, maxItems: 2_000 }), Type.Null()], {
      description: 'Give names of connections, with * for any characters, or null for all.',
    }),
  ),
  requests_per_second: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 50, description: 'Requests per second must be from 1 to 50.' }),
  ),
  quiet_hours: Type.Optional(
    Type.Union([QuietHours, Type.Null()], {
      description:
        'Enter quiet hours as two times such as 22:00 and 07:00, and a time zone such as Europe/Berlin.',
    }),
  ),
  digest: Type.Optional(
    Type.Union([DigestSchedule, Type.Null()], {
      description:
        'Enter when the digest is sent: a day, a time such as 07:00, and a time zone such as Europe/Berlin.',
    }),
  ),
  stream: Type.Optional(
    Type.Object(
      {
        format: Type.Optional(stringEnum(...STREAM_FORMATS)),
        action_types: Type.Optional(nullable(types)),
        excluded_types: Type.Optional(types),
        actors: Type.Optional(nullable(Type.Array(stringEnum(...ACTOR_TYPES), { maxItems: 5 }))),
        from_id: Type.Optional(identifier('entry')),
      },
      { description: 'Say what a log stream sends: format, action_types, excluded_types, actors, from_id.' },
    ),
  ),
};

export type Destinations = Static<typeof Destinations>;

/** POST /destinations */
export const NewDestinationBody = Type.Object({
  ...fields,
  channel: Type.Unsafe<(typeof CHANNELS)[number]>({
    type: 'string',
    enum: [...CHANNELS],
    description: `There is no such channel: choose ${CHANNELS.join(', ')}.`,
  }),
  signature: Type.Optional(
    Type.Unsafe<(typeof SIGNATURES)[number]>({
      type: 'string',
      enum: [...SIGNATURES],
      description: `Choose ${SIGNATURES.join(' or ')}.`,
    }),
  ),
  method: Type.Optional(
    Type.Unsafe<(typeof HEARTBEAT_METHODS)[number]>({
      type: 'string',
      enum: [...HEARTBEAT_METHODS],
      description: `Choose ${HEARTBEAT_METHODS.join(' or ')}.`,
    }),
  ),
  region: Type.Optional(singleLine(40, 'Enter the region of the bucket.')),
  encryption: Type.Optional(singleLine(340, 'Enter AES256, aws:kms or the ARN of a key of KMS.')),
});

export type NewDestinationBody = Static<typeof NewDestinationBody>;

/** PATCH /destinations/:id */
export const DestinationChangesBody = Type.Object({ ...fields, name: Type.Optional(fields.name) });

export type DestinationChangesBody = Static<typeof DestinationChangesBody>;

/** The answer of POST and PATCH: the secret is shown once. */
export const StoredDestination = Type.Object({
  destination: Destination,
  signing_secret: nullable(Type.String({ description: 'shown once; null = none, or unchanged' })),
  open_tickets: count('open tickets that a new one has not been told of; 0 for one that was changed'),
});

export type StoredDestination = Static<typeof StoredDestination>;

type Fields = Omit<Static<typeof DestinationChangesBody>, 'name'>;

/** The verb's names of a body's fields. */
export function inputOf({
  url,
  authorization,
  recipients,
  kinds,
  routing_key: routingKey,
  minimum_severity: minimumSeverity,
  connection_ids: connectionIds,
  connection_names: connectionNames,
  requests_per_second: requestsPerSecond,
  quiet_hours: quietHours,
  digest,
  stream,
}: Fields) {
  return {
    ...(url !== undefined && { url }),
    ...(authorization !== undefined && { authorization }),
    ...(recipients !== undefined && { recipients }),
    ...(kinds !== undefined && { kinds }),
    ...(routingKey !== undefined && { routingKey }),
    ...(minimumSeverity !== undefined && { minimumSeverity }),
    ...(connectionIds !== undefined && { connectionIds }),
    ...(connectionNames !== undefined && { connectionNames }),
    ...(requestsPerSecond !== undefined && { requestsPerSecond }),
    ...(quietHours !== undefined && { quietHours }),
    ...(digest !== undefined && { digest }),
    ...(stream !== undefined && { stream: streamOf(stream) }),
  };
}

function streamOf({
  format,
  action_types: actionTypes,
  excluded_types: excludedTypes,
  actors,
  from_id: fromId,
}: NonNullable<Fields['stream']>): StreamInput {
  return {
    ...(format !== undefined && { format }),
    ...(actionTypes !== undefined && { actionTypes }),
    ...(excludedTypes !== undefined && { excludedTypes }),
    ...(actors !== undefined && { actors }),
    ...(fromId !== undefined && { fromId }),
  };
}

/** A destination as the console answers it. */
export function shownDestination(row: DestinationRow): Static<typeof Destination> {
  const { state_since, created_at, queue, recipients, settings } = row;
  return {
    ...row,
    settings: { ...settings },
    state_since: state_since.toISOString(),
    created_at: created_at.toISOString(),
    next_digest_at: iso(row.next_digest_at),
    queue: {
      ...queue,
      failing_since: iso(queue.failing_since),
      last_success_at: iso(queue.last_success_at),
      last_attempt_at: iso(queue.last_attempt_at),
    },
    recipients: recipients.map(({ email, state, asked_at, confirmed_at }) => ({
      email,
      state,
      asked_at: iso(asked_at),
      confirmed_at: iso(confirmed_at),
    })),
  };
}

/** A time as the console answers it. */
export const iso = (at: Date | null) => at?.toISOString() ?? null;
