import type { Change } from '../../activity/record-entry.ts';
import type { SecretKeys } from '../../platform/encryption.ts';
import { invalidParameter } from '../../platform/rejection.ts';
import { SIGNED_CHANNELS } from '../../vocabulary/channels.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import { destinationWithin, propertiesOf } from './destination-row.ts';
import {
  lockDestinationSecrets,
  openDestinationSecrets,
  storeDestinationSecrets,
  TamperedDestination,
} from './destination-secrets.ts';
import { makeSigning, rotated, verifierOf } from './signing-secret.ts';

const updateSettings = 'update destination set settings = $3 where account_id = $1 and destination_id = $2';

/**
 * Makes a new signing secret for a webhook. The old one signs too for 24 hours, unless `endOld`. Returns what the receiver
 * verifies with, which is shown once. Throws a {@link Rejection} or a `NoDestination`.
 */
export async function rotateSigningSecret(
  change: Change,
  secret: SecretKeys,
  destinationId: number,
  { endOld }: { endOld: boolean },
): Promise<{ signing_secret: string }> {
  const { accountId, client, at, record } = change;
  const before = await destinationWithin(change, destinationId);
  if (!SIGNED_CHANNELS.includes(before.channel))
    throw invalidParameter(
      'channel',
      `Only webhooks and log streams by log_http are signed: the channel is ${before.channel}.`,
    );
  const encrypted = await lockDestinationSecrets(client, accountId, destinationId);
  const bound = { account_id: accountId, destination_id: destinationId, ...before };
  const { secrets } = await openDestinationSecrets(client, secret, bound, encrypted).catch(
    (error: unknown) => {
      throw error instanceof TamperedDestination ? invalidParameter('url', error.message) : error;
    },
  );
  const isPublic = before.settings['public_key'] !== undefined;
  const fresh = makeSigning(isPublic ? 'ed25519' : 'hmac');
  const settings = { ...before.settings, ...(isPublic && { public_key: verifierOf(fresh) }) };
  await client.query(updateSettings, [accountId, destinationId, settings]);
  const signing = rotated(secrets, fresh, endOld);
  await storeDestinationSecrets(client, secret, { ...bound, settings }, { ...secrets, signing });
  const [, old] = signing;
  record('destination_secret_rotated', PAGE_LINKS.destination(destinationId), {
    ...propertiesOf(before),
    old_valid_until: old?.until ?? at,
  });
  return { signing_secret: verifierOf(fresh) };
}
