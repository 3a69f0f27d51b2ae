import { randomBytes } from 'node:crypto';
import type { Change } from '../../activity/record-entry.ts';
import type { SecretKeys } from '../../platform/encryption.ts';
import { conflict } from '../../platform/rejection.ts';
import { one } from '../../store/one.ts';
import { LOG_CHANNELS, SIGNED_CHANNELS } from '../../vocabulary/channels.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import type { DestinationSecrets } from '../channels/channel.ts';
import { nextDigest, requireDigestSchedule } from '../digest/digest-schedule.ts';
import { addStream } from '../log-streams/store-stream.ts';
import { requireQuietHours } from '../maintenance/quiet-hours.ts';
import { type AddressRules, secretsOf } from './channel-address.ts';
import {
  kindsOf,
  MOST_DESTINATIONS,
  type NewDestination,
  requireChannelSettings,
  requireFields,
  requireFilters,
} from './destination-input.ts';
import { type DestinationRow, destinationWithin, propertiesOf } from './destination-row.ts';
import { storeDestinationSecrets } from './destination-secrets.ts';
import { targetOf } from './open-destination.ts';
import { foldRecipient } from './recipient-address.ts';
import { requireFreeName, requireOwnConnections } from './require-in-account.ts';
import { makeSigning, verifierOf } from './signing-secret.ts';
import { storeRecipients } from './store-recipients.ts';

const countDestinations =
  'select count(*)::int as count from destination where account_id = $1 and removed_at is null';

const insert = `
  with added as (
    insert into destination (account_id, name, channel, target, settings, kinds, minimum_severity, connection_ids,
                             connection_names, requests_per_second, quiet_hours, state_since, created_at, digest)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $14)
    returning account_id, destination_id
  )
  insert into destination_queue (account_id, destination_id, epoch, tokens, tokens_at, digest_due_at)
  select account_id, destination_id, $13, $10, $12, $15 from added
  returning destination_id as id`;

/** An added destination. */
export interface AddedDestination {
  destination: DestinationRow;
  /** What the receiver of a webhook verifies with: shown once. Null for other channels. */
  signing_secret: string | null;
}

/**
 * Adds a destination. Call it in a change of the account, whose lock keeps the limit of 20 exact. Throws a
 * {@link Rejection} that says in one sentence what is wrong.
 */
export async function addDestination(
  change: Change,
  secret: SecretKeys,
  rules: AddressRules,
  wanted: NewDestination,
): Promise<AddedDestination> {
  const { channel, name } = wanted;
  const recipients = wanted.recipients?.map(foldRecipient);
  requireFields(channel, wanted, true);
  requireChannelSettings(wanted);
  requireFilters(channel, wanted);
  const secrets = secretsOf(channel, wanted, rules);
  const quietHours = wanted.quietHours ? requireQuietHours(wanted.quietHours) : null;
  const digest = wanted.digest ? requireDigestSchedule(wanted.digest) : null;
  const { accountId, client, at, record } = change;
  const [{ count } = { count: 0 }] = (await client.query<{ count: number }>(countDestinations, [accountId]))
    .rows;
  if (count >= MOST_DESTINATIONS)
    throw conflict(
      null,
      `The account has ${MOST_DESTINATIONS} destinations, which is the most: remove one first.`,
    );
  await requireFreeName(change, name, null);
  await requireOwnConnections(change, wanted.connectionIds ?? null);
  const signing = SIGNED_CHANNELS.includes(channel) ? makeSigning(wanted.signature ?? 'hmac') : null;
  const target = channel === 'email' ? targetOf(recipients ?? []) : originOf(secrets);
  const settings = settingsOf(wanted, signing && verifierOf(signing));
  const { rows } = await client.query<{ id: number }>(insert, [
    accountId,
    name,
    channel,
    target,
    settings,
    kindsOf(channel, wanted.kinds),
    wanted.minimumSeverity ?? null,
    wanted.connectionIds ?? null,
    wanted.connectionNames ?? null,
    wanted.requestsPerSecond ?? 50,
    quietHours,
    at,
    newEpoch(),
    digest,
    digest && nextDigest(digest, new Date(at)),
  ]);
  const { id } = one(rows, 'store a destination');
  const bound = { account_id: accountId, destination_id: id, channel, target, settings };
  const key = await storeDestinationSecrets(client, secret, bound, {
    ...secrets,
    ...(signing && { signing: [signing] }),
  });
  if (recipients) await storeRecipients(change, key, id, recipients);
  if (LOG_CHANNELS.includes(channel)) await addStream(change, id, wanted.stream ?? {});
  const destination = await destinationWithin(change, id);
  record('destination_added', PAGE_LINKS.destination(id), propertiesOf(destination));
  return { destination, signing_secret: signing && verifierOf(signing) };
}

/** A new name for the numbers of a destination's deliveries. */
function newEpoch(): string {
  return randomBytes(6).toString('hex');
}

/** The settings of a channel that are not secret. `verifier` = what the receiver of a webhook verifies with. */
function settingsOf(wanted: NewDestination, verifier: string | null) {
  const { channel, signature, method, shape, region, encryption } = wanted;
  if (channel === 'heartbeat') return { method: method ?? 'GET' };
  if (channel === 's3') return { ...(region && { region }), ...(encryption && { encryption }) };
  if (verifier === null) return {};
  const form = channel === 'log_http' ? { shape: shape ?? 'ndjson' } : {};
  return signature === 'ed25519'
    ? { ...form, signature, public_key: verifier }
    : { ...form, signature: 'hmac' };
}

/** The origin of a destination's URL: all that is shown of it. */
export function originOf({ url }: DestinationSecrets): string {
  if (url === undefined) return '';
  const { protocol, host } = new URL(url); // an origin of other protocols is null
  return `${protocol}//${host}`;
}
