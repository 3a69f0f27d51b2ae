import { isDeepStrictEqual } from 'node:util';
import { type FieldChanges, fieldChanges } from '../../activity/field-changes.ts';
import type { Change } from '../../activity/record-entry.ts';
import type { SecretKeys } from '../../platform/encryption.ts';
import { invalidParameter } from '../../platform/rejection.ts';
import { SIGNED_CHANNELS } from '../../vocabulary/channels.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import type { DestinationSecrets } from '../channels/channel.ts';
import { type DigestSchedule, nextDigest, requireDigestSchedule } from '../digest/digest-schedule.ts';
import { changeStream, hastenStream } from '../log-streams/store-stream.ts';
import { requireQuietHours } from '../maintenance/quiet-hours.ts';
import { originOf } from './add-destination.ts';
import { type AddressRules, secretsOf } from './channel-address.ts';
import {
  type DestinationAddress,
  type DestinationChanges,
  kindsOf,
  requireFields,
  requireFilters,
  requireStreamChannel,
  type SignatureKind,
} from './destination-input.ts';
import { type DestinationRow, destinationWithin, propertiesOf, type StreamState } from './destination-row.ts';
import {
  type BoundDestination,
  lockDestinationSecrets,
  openDestinationSecrets,
  storeDestinationSecrets,
  TamperedDestination,
} from './destination-secrets.ts';
import { targetOf } from './open-destination.ts';
import { foldRecipient } from './recipient-address.ts';
import { requireFreeName, requireOwnConnections } from './require-in-account.ts';
import { makeSigning, verifierOf } from './signing-secret.ts';
import { storeRecipients } from './store-recipients.ts';

const update = `
  update destination
     set name = $3, target = $4, settings = $5, kinds = $6, minimum_severity = $7, connection_ids = $8,
         connection_names = $9, requests_per_second = $10, quiet_hours = $11
   where account_id = $1 and destination_id = $2`;

const setDigest = `
  with scheduled as (
    update destination set digest = $3 where account_id = $1 and destination_id = $2
  )
  update destination_queue set digest_due_at = $4 where account_id = $1 and destination_id = $2`;

/** A changed destination. */
export interface ChangedDestination {
  destination: DestinationRow;
  /** A new signing secret, only if the old one could not be trusted any more; shown once. */
  signing_secret: string | null;
}

/**
 * Changes a destination; its channel stays. A change that would send stored secrets to another server needs them again.
 * Throws a {@link Rejection}.
 */
export async function changeDestination(
  change: Change,
  secret: SecretKeys,
  rules: AddressRules,
  destinationId: number,
  wanted: DestinationChanges,
): Promise<ChangedDestination> {
  const { accountId, client, record } = change;
  const before = await destinationWithin(change, destinationId);
  const encrypted = await lockDestinationSecrets(client, accountId, destinationId);
  const { channel } = before;
  requireFields(channel, wanted, false);
  requireFilters(channel, wanted);
  if (wanted.stream) requireStreamChannel(channel);
  const { name = before.name, connectionIds = before.connections.ids } = wanted;
  await requireFreeName(change, name, destinationId);
  if (wanted.connectionIds) await requireOwnConnections(change, wanted.connectionIds);
  const address = addressChanged(wanted);
  const bound = { account_id: accountId, destination_id: destinationId, ...before };
  const opened = address ? await trustedSecrets(client, secret, bound, encrypted, wanted) : null;
  const secrets = opened && merged(channel, opened.secrets, wanted, rules);
  const recipients = wanted.recipients?.map(foldRecipient);
  const target = recipients ? targetOf(recipients) : secrets?.url ? originOf(secrets) : before.target;
  const settings = {
    ...before.settings,
    ...(opened?.fresh && before.settings['public_key'] !== undefined && { public_key: opened.fresh }),
  };
  const quietHours =
    wanted.quietHours === undefined
      ? before.quiet_hours
      : wanted.quietHours && requireQuietHours(wanted.quietHours);
  await client.query(update, [
    accountId,
    destinationId,
    name,
    target,
    settings,
    wanted.kinds ? kindsOf(channel, wanted.kinds) : before.kinds,
    wanted.minimumSeverity === undefined ? before.minimum_severity : wanted.minimumSeverity,
    connectionIds,
    wanted.connectionNames === undefined ? before.connections.names : wanted.connectionNames,
    wanted.requestsPerSecond ?? before.requests_per_second,
    quietHours,
  ]);
  if (secrets) {
    const key = await storeDestinationSecrets(client, secret, { ...bound, target, settings }, secrets);
    if (recipients) await storeRecipients(change, key, destinationId, recipients);
  }
  if (wanted.stream) await changeStream(change, destinationId, wanted.stream);
  if (address) await hastenStream(change, destinationId);
  if (wanted.digest !== undefined) await scheduleDigest(change, before, wanted.digest);
  const destination = await destinationWithin(change, destinationId);
  const changes = changesOf(before, destination, wanted);
  record('destination_changed', PAGE_LINKS.destination(destinationId), {
    ...propertiesOf(destination),
    ...changes,
  });
  return { destination, signing_secret: opened?.fresh ?? null };
}

/** Begins a new schedule; the same one goes on, so that a digest that is due is sent. */
async function scheduleDigest(
  { accountId, client, at }: Change,
  { id, digest: before }: DestinationRow,
  wanted: DigestSchedule | null,
): Promise<void> {
  const digest = wanted && requireDigestSchedule(wanted);
  if (isDeepStrictEqual(digest, before)) return;
  await client.query(setDigest, [accountId, id, digest, digest && nextDigest(digest, new Date(at))]);
}

const ADDRESS = ['url', 'routingKey', 'authorization', 'recipients'] as const;

const addressChanged = (wanted: DestinationAddress) => ADDRESS.some((field) => wanted[field] !== undefined);

/**
 * The stored secrets. If the destination was changed outside dbvitals, none of them is used: the channel's whole address
 * must be given, and a webhook gets a new signing secret, `fresh`.
 */
async function trustedSecrets(
  client: Change['client'],
  secret: SecretKeys,
  bound: BoundDestination,
  encrypted: Buffer | null,
  wanted: DestinationAddress,
): Promise<{ secrets: DestinationSecrets; fresh: string | null }> {
  try {
    return { secrets: (await openDestinationSecrets(client, secret, bound, encrypted)).secrets, fresh: null };
  } catch (error) {
    if (!(error instanceof TamperedDestination)) throw error;
    requireFields(bound.channel, wanted, true);
    if (!SIGNED_CHANNELS.includes(bound.channel)) return { secrets: {}, fresh: null };
    const signature: SignatureKind = bound.settings['public_key'] === undefined ? 'hmac' : 'ed25519';
    const signing = makeSigning(signature);
    return { secrets: { signing: [signing] }, fresh: verifierOf(signing) };
  }
}

/** The secrets after a change. Throws when a stored one would go to another server than it was entered for. */
function merged(
  channel: DestinationRow['channel'],
  before: DestinationSecrets,
  wanted: DestinationAddress,
  rules: AddressRules,
): DestinationSecrets {
  const kept = wanted.url === undefined && before.url !== undefined ? { url: before.url } : {};
  const given = secretsOf(channel, { ...kept, ...wanted }, rules);
  const moves = before.url !== undefined && originOf(before) !== originOf(given);
  if (moves && before.authorization !== undefined && wanted.authorization === undefined)
    throw invalidParameter(
      'authorization',
      'This changes the server: enter the Authorization header again, because the stored one is not sent there.',
    );
  if (moves && before.routingKey !== undefined && wanted.routingKey === undefined)
    throw invalidParameter(
      'routing_key',
      'This changes the server: enter the integration key again, because the stored one is not sent there.',
    );
  const { authorization: _kept, ...rest } = before;
  return { ...(wanted.authorization === '' ? rest : before), ...given };
}

/** The names of what changed. Secrets are named, never shown. */
function changesOf(before: DestinationRow, after: DestinationRow, wanted: DestinationAddress): FieldChanges {
  const changes = fieldChanges(plain(before), plain(after));
  const secrets = [
    ...(wanted.url !== undefined ? ['url'] : []),
    ...(wanted.routingKey !== undefined ? ['routing_key'] : []),
    ...(wanted.authorization !== undefined ? ['authorization'] : []),
  ];
  return { ...changes, changed: [...changes.changed, ...secrets] };
}

/** The fields that are no secrets. */
function plain(row: DestinationRow) {
  const { name, target, kinds, minimum_severity, connections, requests_per_second, quiet_hours, digest } =
    row;
  return {
    name,
    target,
    kinds,
    minimum_severity,
    connections,
    requests_per_second,
    quiet_hours,
    digest,
    ...(row.stream && plainStream(row.stream)),
  };
}

/** What of a stream is set, and not where it is. */
function plainStream({ format, action_types, excluded_types, actors }: StreamState) {
  return { format, action_types, excluded_types, actors };
}
