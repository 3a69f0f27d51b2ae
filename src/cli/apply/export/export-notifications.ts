import type pg from 'pg';
import type { RuleRow, RuleSettings } from '../../../notifications/alerts/alert-rule.ts';
import { listRules } from '../../../notifications/alerts/list-rules.ts';
import { NEW_RULES } from '../../../notifications/alerts/preset-rules.ts';
import { conditionText } from '../../../notifications/alerts/rule-condition.ts';
import type { DestinationSecrets } from '../../../notifications/channels/channel.ts';
import { usualUrl } from '../../../notifications/destinations/channel-address.ts';
import {
  type DestinationRow,
  listDestinations,
  type StreamState,
} from '../../../notifications/destinations/destination-row.ts';
import { openDestination } from '../../../notifications/destinations/open-destination.ts';
import type { ActorType } from '../../../notifications/log-streams/stream-input.ts';
import { listMaintenance } from '../../../notifications/maintenance/list-maintenance.ts';
import type { MaintenanceRow } from '../../../notifications/maintenance/maintenance-row.ts';
import { WEEKDAYS } from '../../../notifications/maintenance/weekdays.ts';
import type { SecretKeys } from '../../../platform/encryption.ts';
import { type Read, within } from '../../../store/read.ts';
import { EVENTLESS_CHANNELS, SIGNED_CHANNELS } from '../../../vocabulary/channels.ts';
import type { WrittenMaintenance, WrittenRule } from '../configuration-schema.ts';
import type { WrittenDestination } from '../destination-schema.ts';
import type { ScopeNames } from '../scopes/scope-names.ts';
import type { SecretPlaces } from './secret-places.ts';

/** The destinations of an account as a file describes them. Their secrets become references. */
export async function exportDestinations(
  client: pg.ClientBase,
  accountId: number,
  { secret, scopes, places }: { secret: SecretKeys; scopes: ScopeNames; places: SecretPlaces },
): Promise<WrittenDestination[]> {
  const written: WrittenDestination[] = [];
  for (const row of await listDestinations(within(client), accountId)) {
    const opened = await openDestination(client, secret, accountId, row.id);
    written.push({
      name: row.name,
      channel: row.channel,
      ...references(row, opened?.secrets ?? {}, places),
      ...channelSettings(row),
      ...(!EVENTLESS_CHANNELS.includes(row.channel) && eventFilters(row, scopes)),
      ...(row.stream && { stream: writtenStream(row.stream) }),
      requests_per_second: row.requests_per_second,
    });
  }
  return written;
}

function references(
  { name, channel }: DestinationRow,
  { url, routingKey, authorization }: DestinationSecrets,
  places: SecretPlaces,
) {
  return {
    ...(url !== undefined && url !== usualUrl(channel) && { url: places.place(name, 'url') }),
    ...(routingKey !== undefined && { routing_key: places.place(name, 'routing-key') }),
    ...(authorization !== undefined && { authorization: places.place(name, 'authorization') }),
  };
}

type ChannelSettings = Pick<WrittenDestination, 'signature' | 'method' | 'shape' | 'region' | 'encryption'>;

/** What only some channels have. */
function channelSettings({
  channel,
  settings,
  recipients,
}: DestinationRow): ChannelSettings & Pick<WrittenDestination, 'recipients'> {
  const { signature, method, shape, region, encryption } = settings as ChannelSettings;
  if (channel === 's3') return { ...(region && { region }), ...(encryption && { encryption }) };
  if (SIGNED_CHANNELS.includes(channel)) return { ...(signature && { signature }), ...(shape && { shape }) };
  if (channel === 'heartbeat') return { ...(method && { method }) };
  return channel === 'email' ? { recipients: recipients.map(({ email }) => email) } : {};
}

function writtenStream({ format, action_types, excluded_types, actors }: StreamState) {
  return {
    format,
    ...(action_types && { action_types }),
    ...(excluded_types.length > 0 && { excluded_types }),
    ...(actors && { actors: actors as ActorType[] }),
  };
}

/** Which events are sent. */
function eventFilters(
  { kinds, minimum_severity, connections, quiet_hours, digest }: DestinationRow,
  scopes: ScopeNames,
) {
  const selected = scopes.writeStored(connections);
  return {
    kinds,
    ...(minimum_severity !== null && { minimum_severity }),
    ...(selected && { connections: selected }),
    ...(quiet_hours && {
      quiet_hours: { from: quiet_hours.from, to: quiet_hours.to, time_zone: quiet_hours.time_zone },
    }),
    ...(digest && { digest: { every: digest.every, at: digest.at, time_zone: digest.time_zone } }),
  };
}

/**
 * The alert rules of an account as a file describes them. Those that every account starts with come first, as a new account
 * has them. One that was removed or renamed is disabled, so that the file gives a new account no more alerts than this one has.
 */
export async function exportRules(read: Read, accountId: number, scopes: ScopeNames): Promise<WrittenRule[]> {
  const rules = await listRules(read, accountId);
  const destinations = await listDestinations(read, accountId);
  const names = new Map(destinations.map(({ id, name }) => [id, name]));
  const isNew = ({ name }: Pick<RuleRow, 'name'>) => NEW_RULES.some((rule) => rule.name === name);
  const first = NEW_RULES.map(
    (preset) => rules.find(({ name }) => name === preset.name) ?? { ...preset, is_enabled: false },
  );
  return [...first, ...rules.filter((rule) => !isNew(rule))].map((rule) => exportRule(rule, scopes, names));
}

function exportRule(
  rule: RuleSettings,
  scopes: ScopeNames,
  destinations: ReadonlyMap<number, string>,
): WrittenRule {
  const { connection_ids: ids, connection_names: patterns, reminder_seconds: reminder } = rule;
  const selected = scopes.writeStored({ ids, names: patterns });
  const receivers = rule.destination_ids?.flatMap((id) => destinations.get(id) ?? []);
  return {
    name: rule.name,
    when: conditionText(rule),
    ...(rule.clear_threshold !== null && { clear: rule.clear_threshold }),
    ...(rule.for_seconds > 0 && { for: `${rule.for_seconds}s` }),
    ...(rule.for_runs > 1 && { runs: rule.for_runs }),
    severity: rule.severity,
    ...(selected && { connections: selected }),
    ...(receivers && { destinations: receivers }),
    remind: reminder === null ? 'none' : `${reminder}s`,
    ...(!rule.is_enabled && { enabled: false }),
  };
}

/** The maintenance windows of each week as a file describes them. */
export async function exportMaintenance(
  read: Read,
  accountId: number,
  scopes: ScopeNames,
): Promise<WrittenMaintenance[]> {
  const rows = await listMaintenance(read, accountId);
  return rows
    .filter(({ state, weekdays }) => state !== 'past' && weekdays !== null)
    .map((row) => exportWindow(row, scopes));
}

function exportWindow(row: MaintenanceRow, scopes: ScopeNames): WrittenMaintenance {
  const { name, weekdays, start_time, minutes, time_zone, connections } = row;
  const selected = scopes.writeStored(connections);
  return {
    name,
    every: WEEKDAYS.filter((_, at) => weekdays?.includes(at + 1)),
    at: start_time ?? '',
    for: `${minutes ?? 0}m`,
    ...(time_zone !== null && { time_zone }),
    ...(selected && { connections: selected }),
  };
}
