import type pg from 'pg';
import type { Change } from '../../activity/record-entry.ts';
import { addDestination, originOf } from '../../notifications/destinations/add-destination.ts';
import { changeDestination } from '../../notifications/destinations/change-destination.ts';
import { secretsOf } from '../../notifications/destinations/channel-address.ts';
import {
  kindsOf,
  type NewDestination,
  requireChannelSettings,
  requireFields,
  requireFilters,
} from '../../notifications/destinations/destination-input.ts';
import { type DestinationRow, listDestinations } from '../../notifications/destinations/destination-row.ts';
import { TamperedDestination } from '../../notifications/destinations/destination-secrets.ts';
import { openDestination, targetOf } from '../../notifications/destinations/open-destination.ts';
import { foldRecipient } from '../../notifications/destinations/recipient-address.ts';
import { removeDestination } from '../../notifications/destinations/remove-destination.ts';
import { requireDigestSchedule } from '../../notifications/digest/digest-schedule.ts';
import { requireStreamInput } from '../../notifications/log-streams/stream-input.ts';
import { requireQuietHours } from '../../notifications/maintenance/quiet-hours.ts';
import { within } from '../../store/read.ts';
import {
  AUTHORIZED_CHANNELS,
  EVENTLESS_CHANNELS,
  LOG_CHANNELS,
  SIGNED_CHANNELS,
} from '../../vocabulary/channels.ts';
import { textOf } from '../arguments.ts';
import { requireUrlOption } from '../notifications/destination-options.ts';
import { changesOf, type Step, type Steps } from './apply-step.ts';
import { noteRepeated, type ReadFile } from './configuration-file.ts';
import type { WrittenDestination } from './destination-schema.ts';
import type { Tools as ConnectionTools } from './plan-connection-changes.ts';
import type { Path } from './schema-problems.ts';
import {
  type DesiredScope,
  parseScope,
  type ScopeNames,
  storedScope,
  type WrittenScope,
} from './scopes/scope-names.ts';
import { lineAt, type Surroundings } from './secrets/resolve-secrets.ts';
import { storedStream, toStreamInput, toStreamSettings } from './stream-settings.ts';

/** The desired state of a destination. */
export interface DesiredDestination extends Omit<NewDestination, 'connectionIds' | 'connectionNames'> {
  path: Path;
  scope: DesiredScope;
}

/** Parses the destinations of an account, and notes their problems. */
export function destinationsIn(
  file: ReadFile,
  path: Path,
  written: readonly WrittenDestination[],
  surroundings: Surroundings,
): DesiredDestination[] {
  noteRepeated(file, path, written, 'name', ({ name }) => name.trim());
  return written.flatMap((one, at) => {
    const place = [...path, at];
    return file.attempt(place, () => ({ path: place, ...destinationIn(one, surroundings) })) ?? [];
  });
}

function destinationIn(
  written: WrittenDestination,
  surroundings: Surroundings,
): Omit<DesiredDestination, 'path'> {
  const { channel, url, routing_key, authorization, signature, method, recipients, kinds } = written;
  const { shape, region, encryption, stream } = written;
  if (typeof url === 'string') requireUrlOption(channel, 'as {env: NAME} or {file: PATH}');
  const scope = parseScope(written.connections);
  const wanted = {
    name: textOf('The name')(written.name),
    channel,
    ...(url !== undefined && { url: typeof url === 'string' ? url : lineAt(url, surroundings) }),
    ...(routing_key && { routingKey: lineAt(routing_key, surroundings) }),
    ...(authorization && { authorization: lineAt(authorization, surroundings) }),
    ...(recipients && { recipients }),
    ...(signature && { signature }),
    ...(method && { method }),
    ...(shape && { shape }),
    ...(region !== undefined && { region }),
    ...(encryption !== undefined && { encryption }),
    ...(stream && { stream: toStreamInput(stream) }),
    ...(kinds && { kinds }),
    minimumSeverity: written.minimum_severity ?? null,
    requestsPerSecond: written.requests_per_second ?? 50,
    quietHours: written.quiet_hours ? requireQuietHours(written.quiet_hours) : null,
    digest: written.digest ? requireDigestSchedule(written.digest) : null,
  };
  requireFields(channel, wanted, true);
  if (stream) requireStreamInput(toStreamInput(stream));
  requireChannelSettings(wanted);
  requireFilters(channel, { ...wanted, connectionNames: scope.patterns });
  if (EVENTLESS_CHANNELS.includes(channel)) requireFilters(channel, { connectionNames: scope.exact });
  const { allowPrivateDestinations: allowPrivate } = surroundings;
  return { ...wanted, scope, ...secretsOf(channel, wanted, { allowPrivate }) };
}

// The file was checked with the settings of this command: they are not checked again.
const RULES = { allowPrivate: true };

type Tools = ConnectionTools & { scopes: ScopeNames };

interface Account {
  id: number | null;
  name: string;
}

/** The steps that bring an account's destinations to the desired state. */
export async function planDestinations(
  client: pg.ClientBase,
  account: Account,
  wanted: readonly DesiredDestination[],
  tools: Tools,
): Promise<Steps> {
  const stored = account.id === null ? [] : await listDestinations(within(client), account.id);
  const known = new Map(
    stored.map((row) => [row.name, { ...row, connections: tools.scopes.writeStored(row.connections) }]),
  );
  const steps: Steps = { wanted: [], unnamed: [] };
  for (const destination of wanted) {
    const before = known.get(destination.name);
    const step = before
      ? await planChange(client, account, before, destination, tools)
      : planAddition(account, destination, tools);
    if (step) steps.wanted.push(step);
  }
  const named = new Set(wanted.map(({ name }) => name));
  for (const { id, name } of stored.filter((row) => !named.has(row.name))) {
    const difference = { what: 'destination' as const, account: account.name, name };
    steps.unnamed.push({
      difference: { action: 'remove', ...difference, changed: [], from: {}, to: {} },
      make: (change) => removeDestination(change, id),
    });
  }
  return steps;
}

/** What is shown of a destination in the file: nothing that is secret. */
function toPublicSettings(wanted: DesiredDestination, scopes: ScopeNames) {
  const { channel, kinds, minimumSeverity, scope, requestsPerSecond, quietHours, digest } = wanted;
  const recipients = wanted.recipients?.map(foldRecipient);
  return {
    channel,
    target: recipients ? targetOf(recipients) : originOf(wanted),
    kinds: kindsOf(channel, kinds),
    minimum_severity: minimumSeverity ?? null,
    connections: scopes.write(scope),
    requests_per_second: requestsPerSecond ?? 50,
    quiet_hours: quietHours ?? null,
    digest: digest ?? null,
    ...(LOG_CHANNELS.includes(channel) && { stream: toStreamSettings(wanted.stream) }),
  };
}

function planAddition(account: Account, wanted: DesiredDestination, { secret, scopes }: Tools): Step {
  const changes = changesOf({}, toPublicSettings(wanted, scopes));
  return {
    difference: { action: 'add', what: 'destination', account: account.name, name: wanted.name, ...changes },
    make: async (change) =>
      addDestination(change, secret, RULES, { ...wanted, ...(await filtersFor(change, wanted)) }),
  };
}

async function planChange(
  client: pg.ClientBase,
  account: Account,
  before: Omit<DestinationRow, 'connections'> & { connections: WrittenScope | null },
  wanted: DesiredDestination,
  { secret, file, scopes }: Tools,
): Promise<Step | null> {
  const { path, channel } = wanted;
  if (isOther(before, wanted)) {
    file.problem(
      [...path, 'channel'],
      "Channel, signature, method, shape, region and encryption of a destination can't change: use another name.",
    );
    return null;
  }
  const after = toPublicSettings(wanted, scopes);
  const { changed, from, to } = changesOf(
    { ...before, ...sortedTimes(before), ...storedStream(before) },
    { ...after, ...sortedTimes(after) },
  );
  const stored = await trusted(client, secret, account.id ?? 0, before.id);
  const entered = changedSecrets(wanted, stored);
  changed.push(...entered.filter((field) => field !== 'url' || !changed.includes('target')));
  if (stored === null && channel === 'email') changed.push('recipients');
  if (changed.length === 0) return null;
  const {
    name: _name,
    channel: _channel,
    path: _path,
    scope: _scope,
    signature: _signature,
    method: _method,
    shape: _shape,
    ...given
  } = wanted;
  const { url, routingKey, authorization = '', recipients, ...fields } = given;
  const isEntered = entered.length > 0 || changed.includes('target');
  const takesAuthorization = AUTHORIZED_CHANNELS.includes(channel);
  const address = {
    ...(url !== undefined && { url }),
    ...(routingKey !== undefined && { routingKey }),
    ...(takesAuthorization && { authorization }),
    ...(recipients && { recipients }),
  };
  const of = { what: 'destination' as const, account: account.name, name: wanted.name };
  return {
    difference: { action: 'change', ...of, changed, from, to },
    make: async (change) =>
      changeDestination(change, secret, RULES, before.id, {
        ...fields,
        ...(await filtersFor(change, wanted)),
        ...(!EVENTLESS_CHANNELS.includes(channel) && { kinds: after.kinds }),
        ...((isEntered || stored === null) && address),
      }),
  };
}

/** The secret fields of the file that differ from the stored ones. */
function changedSecrets(
  { url, routingKey, authorization = '' }: DesiredDestination,
  stored: Awaited<ReturnType<typeof trusted>>,
): string[] {
  return [
    ...(url !== undefined && url !== stored?.url ? ['url'] : []),
    ...(routingKey !== undefined && routingKey !== stored?.routingKey ? ['routing_key'] : []),
    ...(authorization !== (stored?.authorization ?? '') ? ['authorization'] : []),
  ];
}

/** Whether it differs in what can't change. */
function isOther(
  { channel, settings }: Pick<DestinationRow, 'channel' | 'settings'>,
  wanted: DesiredDestination,
) {
  const {
    channel: desired,
    signature = 'hmac',
    method = 'GET',
    shape = 'ndjson',
    region,
    encryption,
  } = wanted;
  if (channel !== desired) return true;
  if (SIGNED_CHANNELS.includes(channel) && settings['signature'] !== signature) return true;
  if (channel === 's3') return settings['region'] !== region || settings['encryption'] !== encryption;
  if (channel === 'log_http') return settings['shape'] !== shape;
  return channel === 'heartbeat' && settings['method'] !== method;
}

async function filtersFor(change: Change, { scope }: DesiredDestination) {
  const { connection_ids: connectionIds, connection_names: connectionNames } = await storedScope(
    change,
    scope,
  );
  return { connectionIds, connectionNames };
}

/** The store orders the fields of what it keeps as JSON. */
function sortedTimes({ quiet_hours: hours, digest }: Pick<DestinationRow, 'quiet_hours' | 'digest'>) {
  return {
    quiet_hours: hours && { from: hours.from, to: hours.to, time_zone: hours.time_zone },
    digest: digest && { every: digest.every, at: digest.at, time_zone: digest.time_zone },
  };
}

/** The stored secrets; null if they can't be trusted, and all are stored again. */
async function trusted(client: pg.ClientBase, secret: Tools['secret'], accountId: number, id: number) {
  try {
    return (await openDestination(client, secret, accountId, id))?.secrets ?? null;
  } catch (error) {
    if (error instanceof TamperedDestination) return null;
    throw error;
  }
}
