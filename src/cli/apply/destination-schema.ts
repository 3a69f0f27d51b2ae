import {
  CHOOSABLE_KINDS,
  HEARTBEAT_METHODS,
  SIGNATURES,
} from '../../notifications/destinations/destination-input.ts';
import { MOST_RECIPIENTS } from '../../notifications/destinations/recipient-address.ts';
import {
  ACTOR_TYPES,
  type ActorType,
  BODY_SHAPES,
  STREAM_FORMATS,
} from '../../notifications/log-streams/stream-input.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { CHANNELS } from '../../vocabulary/channels.ts';
import { DIGEST_DAYS, type EventKind } from '../../vocabulary/event-kinds.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import { scopeSchema } from './scopes/scope-schema.ts';
import { secretSchema } from './secrets/secret-schema.ts';

/** The schema of a destination in the file of `apply`. */
export function destinationSchema() {
  const place = (what: string) => Type.Optional(secretSchema(what));
  return Type.Object(
    {
      name: Type.String({ minLength: 1, maxLength: 200, description: 'A name of 1 to 200 characters.' }),
      channel: word(CHANNELS),
      url: Type.Optional(
        Type.Union([Type.String({ minLength: 1, maxLength: 2_000 }), secretSchema('The URL')], {
          description:
            'https://hooks.example.com/…; the URL of a chat service only as {env: NAME} or {file: PATH}.',
        }),
      ),
      routing_key: place('The integration key of PagerDuty'),
      authorization: place(
        'The value of the Authorization header, or a header of another name such as DD-API-KEY: KEY',
      ),
      ...channelSettings(),
      stream: Type.Optional(streamSchema()),
      recipients: Type.Optional(
        Type.Array(Type.String({ minLength: 3, maxLength: 254, description: 'An e-mail address.' }), {
          maxItems: MOST_RECIPIENTS,
          description: `The recipients of e-mail, at most ${MOST_RECIPIENTS}. Each confirms by a link.`,
        }),
      ),
      kinds: Type.Optional(
        Type.Array(Type.Unsafe<EventKind>({ ...word(CHOOSABLE_KINDS) }), {
          description: 'A list of kinds of events (default: tickets and alerts).',
        }),
      ),
      minimum_severity: Type.Optional(word(SEVERITIES, 'Default: any.')),
      connections: Type.Optional(scopeSchema),
      requests_per_second: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 50, description: 'Requests per second, 1 to 50 (default: 50).' }),
      ),
      ...times(),
    },
    {
      additionalProperties: false,
      description:
        'Where notifications are sent, identified by its name: at least name and channel. "destination rotate-secret" shows the signing secret of a webhook.',
    },
  );
}

/** When events wait, and when a digest is sent. */
function times() {
  return {
    quiet_hours: Type.Optional(
      Type.Object(
        {
          from: time,
          to: time,
          time_zone: Type.String({ minLength: 1, maxLength: 60, description: ZONE }),
        },
        {
          additionalProperties: false,
          description: 'When warnings wait: from, to and time_zone (default: never).',
        },
      ),
    ),
    digest: Type.Optional(
      Type.Object(
        {
          every: word(DIGEST_DAYS, 'day is each day.'),
          at: time,
          time_zone: Type.String({ minLength: 1, maxLength: 60, description: ZONE }),
        },
        {
          additionalProperties: false,
          description: 'When a chat or e-mail gets a digest: every, at and time_zone (default: never).',
        },
      ),
    ),
  };
}

/** What only some channels have, and keep. */
function channelSettings() {
  return {
    signature: Type.Optional(word(SIGNATURES, 'How a webhook is signed (default: hmac).')),
    method: Type.Optional(word(HEARTBEAT_METHODS, 'How a heartbeat is sent (default: GET).')),
    shape: Type.Optional(word(BODY_SHAPES, 'How log_http forms its bodies (default: ndjson).')),
    region: Type.Optional(
      Type.String({
        maxLength: 40,
        description: 'Of a bucket of s3 (default: as its URL says, or us-east-1).',
      }),
    ),
    encryption: Type.Optional(
      Type.String({
        maxLength: 340,
        description:
          "How s3 encrypts objects: AES256, aws:kms, aws:kms:dsse or the ARN of a key of KMS (default: the bucket's).",
      }),
    ),
  };
}

function streamSchema() {
  const types = (description: string) =>
    Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 63 }), { maxItems: 200, description }));
  return Type.Object(
    {
      format: Type.Optional(word(STREAM_FORMATS, 'Default: native.')),
      action_types: types('The action types to send (default: all).'),
      excluded_types: types('The action types to leave out (default: none).'),
      actors: Type.Optional(
        Type.Array(Type.Unsafe<ActorType>({ ...word(ACTOR_TYPES) }), {
          minItems: 1,
          description: 'Whose entries to send (default: all).',
        }),
      ),
    },
    { additionalProperties: false, description: 'What a log stream sends: the channels with a log.' },
  );
}

const ZONE = 'A time zone such as Europe/Berlin.';

const time = Type.String({
  pattern: '^(?:[01][0-9]|2[0-3]):[0-5][0-9]$',
  description: 'A time of day in quotes, such as "22:00".',
});

/** A destination in a valid file. */
export type WrittenDestination = Static<ReturnType<typeof destinationSchema>>;

function word<const Word extends string>(words: readonly Word[], more = '') {
  const description = `One of ${words.join(', ')}. ${more}`.trim();
  return Type.Unsafe<Word>({ type: 'string', enum: words, description });
}
