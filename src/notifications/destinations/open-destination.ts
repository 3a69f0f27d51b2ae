import type pg from 'pg';
import type { SecretKeys } from '../../platform/encryption.ts';
import type { OpenDestination } from '../channels/channel.ts';
import { type BoundDestination, openDestinationSecrets } from './destination-secrets.ts';
import { recipientToken } from './recipient-token.ts';

const select = `
  select account_id, destination_id, name, channel, target, settings, encrypted
    from destination
   where account_id = $1 and destination_id = $2 and removed_at is null`;

const selectConfirmed = `
  select email
    from destination_recipient
   where account_id = $1 and destination_id = $2 and state = 'confirmed' and removed_at is null
   order by email`;

interface StoredDestination extends BoundDestination {
  name: string;
  encrypted: Buffer | null;
}

/**
 * A destination with its secrets and its confirmed recipients; null if it does not exist or was removed. Throws a
 * `TamperedDestination` when its settings were changed outside dbvitals, and a `LostAccountKey` with another
 * DBVITALS_SECRET_KEY.
 */
export async function openDestination(
  client: pg.ClientBase | pg.Pool,
  secret: SecretKeys,
  accountId: number,
  destinationId: number,
): Promise<OpenDestination | null> {
  const ids = [accountId, destinationId];
  const [row] = (await client.query<StoredDestination>(select, ids)).rows;
  if (!row) return null;
  const { key, secrets } = await openDestinationSecrets(client, secret, row, row.encrypted);
  const { name, channel, settings, target } = row;
  const confirmed =
    channel === 'email' ? (await client.query<{ email: string }>(selectConfirmed, ids)).rows : [];
  // The target is bound to the secrets: a recipient who was added outside dbvitals is not in it.
  const named = new Set(recipientsIn(target));
  const recipients = confirmed
    .filter(({ email }) => named.has(email))
    .map(({ email }) => ({ email, token: recipientToken(key, { accountId, destinationId, email }) }));
  return { accountId, destinationId, name, channel, settings, secrets, recipients };
}

const BETWEEN = ', ';

/** The target of an e-mail destination: its recipients. */
export function targetOf(recipients: readonly string[]): string {
  return recipients.toSorted().join(BETWEEN);
}

/** The recipients in the target of an e-mail destination. */
function recipientsIn(target: string): string[] {
  return target.split(BETWEEN);
}
