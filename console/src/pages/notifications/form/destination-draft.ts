import type {
  Destination,
  DestinationChangesBody,
  NewDestinationBody,
} from '../../../../../src/console-api/notifications/destination-schemas.ts';
import {
  AUTHORIZED_CHANNELS,
  type Channel,
  EVENTLESS_CHANNELS,
  GROUPING_CHANNELS,
  LOG_CHANNELS,
  SIGNED_CHANNELS,
} from '../../../../../src/vocabulary/channels.ts';
import { DEFAULT_KINDS, type DigestDay } from '../../../../../src/vocabulary/event-kinds.ts';
import type { Severity } from '../../../../../src/vocabulary/severities.ts';
import { ALL_CONNECTIONS, scopeDraft } from '../../../parts/connection-choice.tsx';

const ALL_ACTORS = ['member', 'api_key', 'command_line', 'service', 'unknown'] as const;
type Actor = (typeof ALL_ACTORS)[number];

const NEW_STREAM = {
  format: 'native' as NonNullable<Destination['stream']>['format'],
  /** Types of entries, separated by commas or line breaks. */
  only: '',
  except: '',
  /** All five = null. */
  actors: ALL_ACTORS as readonly string[],
  /** `next`: the next entry; of an existing stream, where it is. */
  begin: 'next' as 'next' | 'first' | 'id',
  fromId: '',
};

/** What a person enters for a log stream. */
export type StreamDraft = typeof NEW_STREAM;

/** The draft of a new destination. */
export function newDraft(name: string) {
  return {
    name,
    url: '',
    routingKey: '',
    authorization: '',
    /** E-mail addresses, separated by spaces, commas or line breaks. */
    recipients: '',
    /** How a webhook is signed. */
    signature: 'hmac' as 'hmac' | 'ed25519',
    /** How a heartbeat is sent. */
    method: 'GET' as 'GET' | 'POST',
    /** Of a bucket; empty = by its URL, and as the bucket encrypts. */
    region: '',
    encryption: '',
    kinds: DEFAULT_KINDS,
    minimumSeverity: null as Severity | null,
    ...ALL_CONNECTIONS,
    /** Requests per second. */
    rate: '50',
    hasQuietHours: false,
    from: '22:00',
    to: '07:00',
    timeZone: ownTimeZone(),
    /** On which days a digest is sent. */
    digest: 'never' as DigestDay | 'never',
    digestAt: '07:00',
    digestZone: ownTimeZone(),
    stream: NEW_STREAM,
  };
}

/** What a person enters for a destination. Secrets are empty when a destination is changed. */
export type DestinationDraft = ReturnType<typeof newDraft>;

/** The draft of an existing one. */
export function draftOf(destination: Destination): DestinationDraft {
  const { name, kinds, minimum_severity, requests_per_second, quiet_hours, stream, digest } = destination;
  const draft = newDraft(name);
  return {
    ...draft,
    ...(stream && {
      stream: {
        ...draft.stream,
        format: stream.format,
        only: (stream.action_types ?? []).join('\n'),
        except: stream.excluded_types.join('\n'),
        actors: stream.actors ?? ALL_ACTORS,
      },
    }),
    recipients: destination.recipients.map(({ email }) => email).join('\n'),
    kinds,
    minimumSeverity: minimum_severity,
    ...scopeDraft(destination.connections),
    rate: String(requests_per_second),
    ...(quiet_hours && {
      hasQuietHours: true,
      from: quiet_hours.from,
      to: quiet_hours.to,
      timeZone: quiet_hours.time_zone,
    }),
    ...(digest && { digest: digest.every, digestAt: digest.at, digestZone: digest.time_zone }),
  };
}

/** The name is always sent. */
type ChangedFields = DestinationChangesBody & { name: string };

/** The body of POST /destinations: also what can't be changed later. */
export function newInputOf(channel: Channel, draft: DestinationDraft): NewDestinationBody {
  return {
    channel,
    ...inputOf(channel, draft),
    ...(SIGNED_CHANNELS.includes(channel) && { signature: draft.signature }),
    ...(channel === 'heartbeat' && { method: draft.method }),
    ...(channel === 's3' && draft.region.trim() !== '' && { region: draft.region.trim() }),
    ...(channel === 's3' && draft.encryption.trim() !== '' && { encryption: draft.encryption.trim() }),
  };
}

/** The request's body. A secret that was left empty is not sent: the stored one stays. */
export function inputOf(channel: Channel, draft: DestinationDraft): ChangedFields {
  const address = addressOf(channel, draft);
  const name = draft.name.trim();
  if (LOG_CHANNELS.includes(channel)) return { name, ...address, stream: streamSettings(draft.stream) };
  if (EVENTLESS_CHANNELS.includes(channel)) return { name, ...address };
  return {
    name,
    ...address,
    kinds: [...draft.kinds],
    minimum_severity: draft.minimumSeverity,
    connection_ids: draft.scope === 'ids' ? [...draft.ids] : null,
    connection_names: draft.scope === 'names' ? listOf(draft.names, /[\n,]/) : null,
    requests_per_second: Number(draft.rate),
    quiet_hours: draft.hasQuietHours
      ? { from: draft.from, to: draft.to, time_zone: draft.timeZone.trim() }
      : null,
    ...(GROUPING_CHANNELS.includes(channel) && { digest: digestInput(draft) }),
  };
}

function digestInput({ digest, digestAt, digestZone }: DestinationDraft) {
  return digest === 'never' ? null : { every: digest, at: digestAt, time_zone: digestZone.trim() };
}

function streamSettings({ format, only, except, actors, begin, fromId }: StreamDraft) {
  const types = listOf(only, /[\s,]/);
  const chosen = ALL_ACTORS.filter((actor: Actor) => actors.includes(actor));
  return {
    format,
    action_types: types.length === 0 ? null : types,
    excluded_types: listOf(except, /[\s,]/),
    actors: chosen.length === ALL_ACTORS.length ? null : chosen,
    ...(begin !== 'next' && { from_id: begin === 'first' ? 1 : Number(fromId) }),
  };
}

function addressOf(channel: Channel, { url, routingKey, authorization, recipients }: DestinationDraft) {
  if (channel === 'email') return { recipients: listOf(recipients, /[\s,;]/) };
  if (channel === 'pagerduty') return routingKey.trim() === '' ? {} : { routing_key: routingKey.trim() };
  return {
    ...(url.trim() !== '' && { url: url.trim() }),
    ...(takesAuthorization(channel) &&
      authorization.trim() !== '' && { authorization: authorization.trim() }),
  };
}

/** Whether requests of the channel may have an Authorization header. */
export function takesAuthorization(channel: Channel): boolean {
  return AUTHORIZED_CHANNELS.includes(channel);
}

function listOf(text: string, between: RegExp): string[] {
  return text
    .split(between)
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

function ownTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
