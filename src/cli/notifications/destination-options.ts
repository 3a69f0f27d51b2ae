import { type Command, Option } from 'commander';
import {
  CHOOSABLE_KINDS,
  type DestinationAddress,
  type DestinationFilters,
} from '../../notifications/destinations/destination-input.ts';
import { type DigestSchedule, requireDigestSchedule } from '../../notifications/digest/digest-schedule.ts';
import {
  ACTOR_TYPES,
  type ActorType,
  STREAM_FORMATS,
  type StreamFormat,
  type StreamInput,
} from '../../notifications/log-streams/stream-input.ts';
import type { Channel } from '../../vocabulary/channels.ts';
import { DIGEST_DAYS, type EventKind } from '../../vocabulary/event-kinds.ts';
import { SEVERITIES, type Severity } from '../../vocabulary/severities.ts';
import { countOf, oneOf, someOf, textOf } from '../arguments.ts';
import { CONNECTION_SCOPE, connectionScopeOf } from '../connection-scope-option.ts';
import { type OwnPlaces, readSecretFile } from '../guarded-file.ts';
import { UsageError } from '../usage-error.ts';
import { readSecretLine } from './read-secret-line.ts';

/** The channels whose URL is a password: it would be seen in a list of processes. */
const SECRET_URLS: readonly Channel[] = ['slack', 'mattermost', 'teams', 'discord'];

/** The options that `destination add` and `destination change` share, as parsed by commander. */
export interface DestinationOptions {
  url?: string;
  urlStdin?: boolean;
  urlFile?: string;
  routingKeyStdin?: boolean;
  authorizationStdin?: boolean;
  recipient?: string[];
  kind?: EventKind[];
  severity?: Severity | 'any';
  connection?: { connection_ids: readonly number[] | null; connection_names: readonly string[] | null };
  allConnections?: boolean;
  requestsPerSecond?: number;
  /** `none`: a parser of an option can't return null, because commander makes an empty text of it. */
  quietHours?: NonNullable<DestinationFilters['quietHours']> | 'none';
  digest?: DigestSchedule | 'none';
  format?: StreamFormat;
  actionType?: string[];
  exceptActionType?: string[];
  actor?: ActorType[];
  fromId?: number;
  since?: Date;
}

/** Adds the options that `destination add` and `destination change` share. */
export function addDestinationOptions(command: Command): Command {
  return command
    .option('--url <URL>', 'where to send; a secret URL, such as one of Slack, only by the next two', shortOf)
    .option('--url-stdin', 'read the URL from standard input')
    .option('--url-file <FILE>', 'read the URL from a file that only you can read')
    .option('--routing-key-stdin', 'read the integration key of PagerDuty from standard input')
    .option(
      '--authorization-stdin',
      'read the value of an Authorization header from standard input, such as Bearer TOKEN, or a header of another name such as DD-API-KEY: KEY; of splunk_hec the token, of elastic the API key, of s3 ACCESS_KEY_ID:SECRET_ACCESS_KEY, of sentinel TENANT_ID:CLIENT_ID:CLIENT_SECRET',
    )
    .option('--recipient <EMAIL>', 'a recipient of e-mail, may be repeated', repeated)
    .addOption(
      new Option(
        '--kind <K>',
        `an event to send, may be repeated: ${CHOOSABLE_KINDS.join(', ')} (default: tickets and alerts)`,
      ).argParser(someOf('--kind', CHOOSABLE_KINDS)),
    )
    .option(
      '--severity <S>',
      `the least severity: ${SEVERITIES.join(', ')}, any (default: any)`,
      oneOf('--severity', [...SEVERITIES, 'any']),
    )
    .option('--connection <C>', `${CONNECTION_SCOPE} (default: all)`, connectionScopeOf('--connection'))
    .option(
      '--requests-per-second <N>',
      'how many requests it gets, 1 to 50 (default: 50)',
      countOf('--requests-per-second', 1, 50),
    )
    .option(
      '--quiet-hours <H>',
      'when warnings wait, such as 22:00-07:00@Europe/Berlin, or none',
      quietHoursOf,
    )
    .option(
      '--digest <D>',
      'when a chat or e-mail gets a digest: a day (or day for each) and a time, such as mon,07:00@Europe/Berlin, or none',
      parseDigest,
    );
}

/** Adds the options of log streams. */
export function addStreamOptions(command: Command): Command {
  return command
    .option(
      '--format <F>',
      `of a log stream: ${STREAM_FORMATS.join(', ')} (default: native)`,
      oneOf('--format', STREAM_FORMATS),
    )
    .option(
      '--action-type <T>',
      'a log stream sends only this type, may be repeated',
      repeatedText('--action-type'),
    )
    .option(
      '--except-action-type <T>',
      'a log stream leaves out this type, may be repeated',
      repeatedText('--except-action-type'),
    )
    .addOption(
      new Option(
        '--actor <A>',
        `a log stream sends only what these did, may be repeated: ${ACTOR_TYPES.join(', ')}`,
      ).argParser(someOf('--actor', ACTOR_TYPES)),
    )
    .option(
      '--from-id <N>',
      'the first entry that a log stream sends (default: the next one); of a change: send from there again',
      countOf('--from-id', 1, Number.MAX_SAFE_INTEGER),
    )
    .option('--since <TIME>', 'the same by time, such as 2026-03-01T00:00:00Z', timeOf);
}

const repeatedText =
  (option: string) =>
  (text: string, before: string[] = []): string[] => [...before, textOf(option)(text)];

function timeOf(text: string): Date {
  const time = new Date(text);
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(time.getTime())) return time;
  throw new UsageError('--since must be a time such as 2026-03-01T00:00:00Z.');
}

/** What a log stream sends, by the options; absent = none was given. */
export function streamOf(options: DestinationOptions): { stream?: StreamInput } {
  const { format, actionType, exceptActionType, actor, fromId, since } = options;
  const stream = {
    ...(format && { format }),
    ...(actionType && { actionTypes: actionType }),
    ...(exceptActionType && { excludedTypes: exceptActionType }),
    ...(actor && { actors: actor }),
    ...(fromId !== undefined && { fromId }),
    ...(since && { since }),
  };
  return Object.keys(stream).length === 0 ? {} : { stream };
}

const repeated = (text: string, before: string[] = []) => [...before, textOf('--recipient')(text)];

/** Throws if the channel's URL is a secret, which others see in a list of processes or a file. `how` says how to give it. */
export function requireUrlOption(channel: Channel, how: string): void {
  if (SECRET_URLS.includes(channel)) throw new UsageError(`A URL of ${channel} is a secret: give it ${how}.`);
}

function shortOf(text: string): string {
  if (text.length <= 4_000) return text;
  throw new UsageError('--url must have at most 2000 characters.');
}

function quietHoursOf(text: string): NonNullable<DestinationOptions['quietHours']> {
  if (text === 'none') return text;
  const [, from, to, zone] = /^([0-9:]{5})-([0-9:]{5})@(\S{1,60})$/.exec(text) ?? [];
  if (from !== undefined && to !== undefined && zone !== undefined) return { from, to, time_zone: zone };
  throw new UsageError(
    '--quiet-hours must be two times and a time zone, such as 22:00-07:00@Europe/Berlin, or none.',
  );
}

function parseDigest(text: string): NonNullable<DestinationOptions['digest']> {
  if (text === 'none') return text;
  const [, every, at, zone] = /^([a-z]{3}),([0-9:]{5})@(\S{1,60})$/.exec(text) ?? [];
  const day = DIGEST_DAYS.find((known) => known === every);
  if (day !== undefined && at !== undefined && zone !== undefined)
    return requireDigestSchedule({ every: day, at, time_zone: zone });
  throw new UsageError(
    `--digest must be a day (${DIGEST_DAYS.join(', ')}), a time and a time zone, such as mon,07:00@Europe/Berlin, or none.`,
  );
}

/** A schedule as the option is written. */
export function digestOption({ every, at, time_zone }: DigestSchedule): string {
  return `${every},${at}@${time_zone}`;
}

/** The filters given as options. */
export function filtersOf({
  kind: kinds,
  severity,
  connection,
  allConnections,
  requestsPerSecond,
  quietHours,
  digest,
}: DestinationOptions): DestinationFilters {
  if (allConnections && connection) throw new UsageError('Give --connection or --all-connections, not both.');
  return {
    ...(kinds && { kinds }),
    ...(severity && { minimumSeverity: severity === 'any' ? null : severity }),
    ...(connection && {
      connectionIds: connection.connection_ids,
      connectionNames: connection.connection_names,
    }),
    ...(allConnections && { connectionIds: null, connectionNames: null }),
    ...(requestsPerSecond !== undefined && { requestsPerSecond }),
    ...(quietHours !== undefined && { quietHours: quietHours === 'none' ? null : quietHours }),
    ...(digest !== undefined && { digest: digest === 'none' ? null : digest }),
  };
}

/** The address given as options. Reads secrets from standard input or a file. `channel` = null: not known. */
export async function addressOf(
  channel: Channel | null,
  { url, urlStdin, urlFile, routingKeyStdin, authorizationStdin, recipient }: DestinationOptions,
  own: OwnPlaces,
): Promise<DestinationAddress> {
  if ([url, urlStdin, urlFile].filter((given) => given !== undefined).length > 1)
    throw new UsageError('Give one of --url, --url-stdin and --url-file.');
  const inputs = [urlStdin, routingKeyStdin, authorizationStdin].filter((given) => given === true);
  if (inputs.length > 1)
    throw new UsageError('Standard input has room for one secret: give the URL by --url-file.');
  if (url !== undefined && channel !== null) requireUrlOption(channel, 'by --url-stdin or --url-file');
  const ofFile = urlFile === undefined ? url : readSecretFile(urlFile, own).trim();
  const given = urlStdin ? await readSecretLine('--url-stdin') : ofFile;
  return {
    ...(given !== undefined && { url: given }),
    ...(routingKeyStdin && { routingKey: await readSecretLine('--routing-key-stdin') }),
    ...(authorizationStdin && { authorization: await readSecretLine('--authorization-stdin') }),
    ...(recipient && { recipients: recipient }),
  };
}
