import { invalidParameter } from '../../platform/rejection.ts';
import {
  type Channel,
  EVENTLESS_CHANNELS,
  GROUPING_CHANNELS,
  LOG_CHANNELS,
  SIGNED_CHANNELS,
} from '../../vocabulary/channels.ts';
import { DEFAULT_KINDS, DIRECTED_KINDS, EVENT_KINDS, type EventKind } from '../../vocabulary/event-kinds.ts';
import type { Severity } from '../../vocabulary/severities.ts';
import { wrongPattern } from '../connection-scope.ts';
import type { DigestSchedule } from '../digest/digest-schedule.ts';
import type { BodyShape, StreamInput } from '../log-streams/stream-input.ts';
import type { QuietHours } from '../maintenance/quiet-hours.ts';
import { requireRecipients } from './recipient-address.ts';

/** How a webhook is signed: with a shared secret, or with a private key whose public key the receiver has. */
export const SIGNATURES = ['hmac', 'ed25519'] as const;
export type SignatureKind = (typeof SIGNATURES)[number];

/** How S3 encrypts objects, unless as the bucket says. The ARN of a key of KMS may stand for them. */
const ENCRYPTIONS = ['AES256', 'aws:kms', 'aws:kms:dsse'];

export const HEARTBEAT_METHODS = ['GET', 'POST'] as const;
export type HeartbeatMethod = (typeof HEARTBEAT_METHODS)[number];

/** The most destinations of an account. */
export const MOST_DESTINATIONS = 20;

/** What a destination gets. Absent = the default, or unchanged. */
export interface DestinationFilters {
  kinds?: readonly EventKind[];
  /** Null = any. */
  minimumSeverity?: Severity | null;
  /** Null = every connection, unless `connectionNames` has some. */
  connectionIds?: readonly number[] | null;
  /** Names of connections, with * for any characters. */
  connectionNames?: readonly string[] | null;
  requestsPerSecond?: number;
  quietHours?: QuietHours | null;
  /** When it gets a digest; null = never. */
  digest?: DigestSchedule | null;
}

/** Where a destination is, with its secrets. */
export interface DestinationAddress {
  url?: string;
  /** PagerDuty's integration key. */
  routingKey?: string;
  /** The value of an `Authorization` header; empty = none. */
  authorization?: string;
  /** E-mail addresses. */
  recipients?: readonly string[];
}

/** A destination to add. */
export interface NewDestination extends DestinationFilters, DestinationAddress {
  name: string;
  channel: Channel;
  /** How a webhook is signed. Default: hmac. */
  signature?: SignatureKind;
  /** How a heartbeat is sent. Default: GET. */
  method?: HeartbeatMethod;
  /** How a body of `log_http` is formed. Default: ndjson. */
  shape?: BodyShape;
  /** Of a bucket of s3. Default: as its URL says, or us-east-1. */
  region?: string;
  /** AES256, aws:kms, aws:kms:dsse, or the ARN of a key of KMS. Default: the bucket's. */
  encryption?: string;
  /** What a log stream sends. */
  stream?: StreamInput;
}

/** Changes to a destination; absent fields keep their values. */
export interface DestinationChanges extends DestinationFilters, DestinationAddress {
  name?: string;
  /** Of a log stream. */
  stream?: StreamInput;
}

/** The kinds that a destination may choose. */
export const CHOOSABLE_KINDS: readonly EventKind[] = EVENT_KINDS.filter(
  (kind) => !DIRECTED_KINDS.includes(kind),
);

/** Which fields of an address each channel takes. `!` = required. */
const FIELDS: Readonly<Record<Channel, readonly string[]>> = {
  webhook: ['url!', 'authorization'],
  slack: ['url!'],
  mattermost: ['url!'],
  teams: ['url!'],
  discord: ['url!'],
  pagerduty: ['url', 'routingKey!'],
  alertmanager: ['url!', 'authorization'],
  email: ['recipients!'],
  heartbeat: ['url!', 'authorization'],
  log_http: ['url!', 'authorization'],
  splunk_hec: ['url!', 'authorization!'],
  elastic: ['url!', 'authorization!'],
  sentinel: ['url!', 'authorization!'],
  otlp_logs: ['url!', 'authorization'],
  syslog: ['url!'],
  s3: ['url!', 'authorization!'],
};

/** The console's names of the fields, and what they are. */
const SAID = {
  url: ['url', 'a URL'],
  routingKey: ['routing_key', 'a PagerDuty integration key'],
  authorization: ['authorization', 'an Authorization header'],
  recipients: ['recipients', 'recipients'],
} as const;

/** What the authorization of some channels is. */
const KEYS: Readonly<Partial<Record<Channel, string>>> = {
  s3: 'an access key',
  sentinel: 'an app registration',
};

/** Requires the fields that the channel needs, and no others. With `isNew`, all that it needs must be there. */
export function requireFields(channel: Channel, given: DestinationAddress, isNew: boolean): void {
  for (const field of ['url', 'routingKey', 'authorization', 'recipients'] as const) {
    const [setting, usual] = SAID[field];
    const what = (field === 'authorization' && KEYS[channel]) || usual;
    const isGiven = given[field] !== undefined;
    const isRequired = FIELDS[channel].includes(`${field}!`);
    if (isGiven && !isRequired && !FIELDS[channel].includes(field))
      throw invalidParameter(setting, `The channel ${channel} takes no ${what.replace(/^an? /, '')}.`);
    if (isNew && isRequired && !isGiven)
      throw invalidParameter(setting, `The channel ${channel} needs ${what}.`);
  }
  if (given.recipients !== undefined) requireRecipients(given.recipients);
}

/** Requires what only some channels have. */
export function requireChannelSettings(wanted: NewDestination): void {
  const { channel, signature, method, shape, stream } = wanted;
  requireBucketSettings(wanted);
  if (signature !== undefined && !SIGNED_CHANNELS.includes(channel))
    throw invalidParameter(
      'signature',
      'Only webhooks and log streams by log_http are signed: leave out the signature.',
    );
  if (shape !== undefined && channel !== 'log_http')
    throw invalidParameter('shape', 'Only log_http has a shape: leave it out.');
  if (stream !== undefined) requireStreamChannel(channel);
  if (method !== undefined && channel !== 'heartbeat')
    throw invalidParameter('method', 'Only a heartbeat has a method: leave it out.');
}

function requireBucketSettings({ channel, region, encryption }: NewDestination): void {
  if (channel !== 's3' && (region ?? encryption) !== undefined)
    throw invalidParameter(
      region === undefined ? 'encryption' : 'region',
      'Only s3 has a region and an encryption: leave them out.',
    );
  if (region !== undefined && !/^[a-z0-9][a-z0-9-]{0,39}$/.test(region))
    throw invalidParameter('region', 'A region is a word such as eu-central-1.');
  const isKey = /^arn:[a-z-]{1,20}:kms:[\x21-\x7e]{1,300}$/;
  if (encryption !== undefined && !ENCRYPTIONS.includes(encryption) && !isKey.test(encryption))
    throw invalidParameter(
      'encryption',
      `Choose the encryption from ${ENCRYPTIONS.join(', ')}, or enter the ARN of a key of KMS.`,
    );
}

/** Throws for a channel that sends events instead of the log. */
export function requireStreamChannel(channel: Channel): void {
  if (!LOG_CHANNELS.includes(channel))
    throw invalidParameter(
      'stream',
      `The channel ${channel} sends no log: choose ${LOG_CHANNELS.join(', ')}.`,
    );
}

/** Requires filters that can be. The connections themselves are checked with the store. */
export function requireFilters(channel: Channel, given: DestinationFilters): void {
  const { kinds, minimumSeverity, connectionIds, connectionNames, quietHours } = given;
  const rate = given.requestsPerSecond;
  if (given.digest && !GROUPING_CHANNELS.includes(channel))
    throw invalidParameter(
      'digest',
      `The channel ${channel} takes no digest: choose ${GROUPING_CHANNELS.join(', ')}.`,
    );
  if (EVENTLESS_CHANNELS.includes(channel)) {
    const filters = [kinds, minimumSeverity, connectionIds, connectionNames, quietHours];
    if (filters.some((filter) => (Array.isArray(filter) ? filter.length > 0 : (filter ?? null) !== null)))
      throw invalidParameter(
        'kinds',
        'Heartbeats and log streams take no events, so they have no kinds, severity, connections or quiet hours.',
      );
    return;
  }
  if (kinds?.length === 0) throw invalidParameter('kinds', 'Choose at least one kind of event.');
  const unknown = kinds?.some((kind) => !CHOOSABLE_KINDS.includes(kind));
  if (unknown) throw invalidParameter('kinds', `Choose kinds from ${CHOOSABLE_KINDS.join(', ')}.`);
  if (rate !== undefined && !(Number.isInteger(rate) && rate >= 1 && rate <= 50))
    throw invalidParameter('requests_per_second', 'Requests per second must be from 1 to 50.');
  // A file may name none: that is what is left of one whose connections were removed.
  if (connectionIds?.length === 0)
    throw invalidParameter('connections', 'Name at least one connection, or leave them all in.');
  if ((connectionIds?.length ?? 0) > MOST_CONNECTIONS || (connectionNames?.length ?? 0) > MOST_CONNECTIONS)
    throw invalidParameter(
      'connections',
      `Name at most ${MOST_CONNECTIONS} connections; * in a name stands for any characters.`,
    );
  if (connectionNames?.some((name) => !/^[^\p{Cc}\p{Cs}]{1,200}$/u.test(name)))
    throw invalidParameter('connections', 'A name of a connection has 1 to 200 characters.');
  const wrong = wrongPattern(connectionNames);
  if (wrong !== null) throw invalidParameter('connections', wrong);
}

const MOST_CONNECTIONS = 1_000;

/** The kinds of a new destination. */
export function kindsOf(channel: Channel, kinds: readonly EventKind[] | undefined): EventKind[] {
  if (EVENTLESS_CHANNELS.includes(channel)) return [];
  const chosen = new Set(kinds ?? DEFAULT_KINDS);
  return EVENT_KINDS.filter((kind) => chosen.has(kind));
}
