import type pg from 'pg';
import { within } from '../../database/read.ts';
import { addDestination, originOf } from '../../notifications/destinations/add-destination.ts';
import { changeDestination } from '../../notifications/destinations/change-destination.ts';
import { kindsOf } from '../../notifications/destinations/destination-input.ts';
import { type DestinationRow, listDestinations } from '../../notifications/destinations/destination-row.ts';
import { TamperedDestination } from '../../notifications/destinations/destination-secrets.ts';
import { openDestination, targetOf } from '../../notifications/destinations/open-destination.ts';
import { foldRecipient } from '../../notifications/destinations/recipient-address.ts';
import { removeDestination } from '../../notifications/destinations/remove-destination.ts';
import { changesOf, type Step, type Steps } from './apply-step.ts';
import type { DesiredDestination } from './parse-destinations.ts';
import type { Tools } from './plan-connection-changes.ts';

// The file was checked with the settings of this command: they are not checked again.
const RULES = { allowPrivate: true };

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
  const known = new Map(stored.map((row) => [row.name, row]));
  const steps: Steps = { wanted: [], unnamed: [] };
  for (const destination of wanted) {
    const before = known.get(destination.name);
    const step = before
      ? await alterationOf(client, account, before, destination, tools)
      : additionOf(account, destination, tools);
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
function shownOf(wanted: DesiredDestination) {
  const { channel, kinds, minimumSeverity, connectionNames, requestsPerSecond, quietHours } = wanted;
  const recipients = wanted.recipients?.map(foldRecipient);
  return {
    channel,
    target: recipients ? targetOf(recipients) : originOf(wanted),
    kinds: kindsOf(channel, kinds),
    minimum_severity: minimumSeverity ?? null,
    connections: connectionNames ?? null,
    requests_per_second: requestsPerSecond ?? 50,
    quiet_hours: quietHours ?? null,
  };
}

function additionOf(account: Account, wanted: DesiredDestination, { secret }: Tools): Step {
  const changes = changesOf({}, shownOf(wanted));
  return {
    difference: { action: 'add', what: 'destination', account: account.name, name: wanted.name, ...changes },
    make: (change) => addDestination(change, secret, RULES, wanted),
  };
}

async function alterationOf(
  client: pg.ClientBase,
  account: Account,
  before: DestinationRow,
  wanted: DesiredDestination,
  { secret, file }: Tools,
): Promise<Step | null> {
  const { signature = 'hmac', method = 'GET', path, channel } = wanted;
  const isOther =
    before.channel !== channel ||
    (channel === 'webhook' && before.settings['signature'] !== signature) ||
    (channel === 'heartbeat' && before.settings['method'] !== method);
  if (isOther) {
    file.problem(
      [...path, 'channel'],
      "Channel, signature and method of a destination can't change: use another name.",
    );
    return null;
  }
  const { ids, names } = before.connections;
  const shown = { ...before, connections: ids === null ? names : [...ids.map(String), ...(names ?? [])] };
  const after = shownOf(wanted);
  const { changed, from, to } = changesOf(
    { ...shown, quiet_hours: sorted(before.quiet_hours) },
    { ...after, quiet_hours: sorted(after.quiet_hours) },
  );
  const stored = await trusted(client, secret, account.id ?? 0, before.id);
  const newUrl = wanted.url !== undefined && wanted.url !== stored?.url;
  const newKey = wanted.routingKey !== undefined && wanted.routingKey !== stored?.routingKey;
  const authorization = wanted.authorization ?? '';
  const newAuthorization = authorization !== (stored?.authorization ?? '');
  changed.push(
    ...(newUrl && !changed.includes('target') ? ['url'] : []),
    ...(newKey ? ['routing_key'] : []),
    ...(newAuthorization ? ['authorization'] : []),
    ...(stored === null && channel === 'email' ? ['recipients'] : []),
  );
  if (changed.length === 0) return null;
  const {
    name: _name,
    channel: _channel,
    path: _path,
    signature: _signature,
    method: _method,
    ...given
  } = wanted;
  const { url, routingKey, authorization: _authorization, recipients, ...fields } = given;
  const isEntered = newUrl || newKey || newAuthorization || changed.includes('target');
  const takesAuthorization = ['webhook', 'alertmanager', 'heartbeat'].includes(channel);
  const address = {
    ...(url !== undefined && { url }),
    ...(routingKey !== undefined && { routingKey }),
    ...(takesAuthorization && { authorization }),
    ...(recipients && { recipients }),
  };
  const of = { what: 'destination' as const, account: account.name, name: wanted.name };
  return {
    difference: { action: 'change', ...of, changed, from, to },
    make: (change) =>
      changeDestination(change, secret, RULES, before.id, {
        ...fields,
        ...(channel !== 'heartbeat' && { kinds: after.kinds }),
        ...((isEntered || stored === null) && address),
      }),
  };
}

const sorted = (hours: DestinationRow['quiet_hours']) =>
  hours && { from: hours.from, to: hours.to, time_zone: hours.time_zone };

/** The stored secrets; null if they can't be trusted, and all are stored again. */
async function trusted(client: pg.ClientBase, secret: Tools['secret'], accountId: number, id: number) {
  try {
    return (await openDestination(client, secret, accountId, id))?.secrets ?? null;
  } catch (error) {
    if (error instanceof TamperedDestination) return null;
    throw error;
  }
}
