import type pg from 'pg';
import { decrypt, encrypt, type SecretKeys } from '../../platform/encryption.ts';
import { accountKey, makeAccountKey } from '../../store/account-key.ts';
import { one } from '../../store/one.ts';
import type { Channel } from '../../vocabulary/channels.ts';
import type { DestinationSecrets } from '../channels/channel.ts';

/** What determines where the secrets of a destination are sent. A change outside dbvitals decrypts to nothing. */
export interface BoundDestination {
  account_id: number;
  destination_id: number;
  channel: Channel;
  target: string;
  settings: Readonly<Record<string, unknown>>;
}

/** The secrets were not stored with the destination's current settings. */
export class TamperedDestination extends Error {
  readonly destinationId: number;
  /** The problem, as the reason why it is disabled. */
  readonly reason: string;

  constructor(destinationId: number, how: keyof typeof TAMPERED) {
    super(`Destination ${destinationId}: ${TAMPERED[how]}. Enter its address and secrets again.`);
    this.destinationId = destinationId;
    this.reason = TAMPERED[how];
  }
}

const TAMPERED = {
  changed: 'its stored settings were changed outside dbvitals',
  missing: 'its secrets were removed outside dbvitals, or forgotten with a lost secret key',
};

const lock = `
  select encrypted
    from destination
   where account_id = $1 and destination_id = $2
     for update`;

/** The encrypted secrets of a destination that exists; null = it has none. Locks it until the transaction ends. */
export async function lockDestinationSecrets(
  client: pg.ClientBase,
  accountId: number,
  destinationId: number,
): Promise<Buffer | null> {
  const { rows } = await client.query<{ encrypted: Buffer | null }>(lock, [accountId, destinationId]);
  return one(rows, 'lock a destination').encrypted;
}

const update = 'update destination set encrypted = $3 where account_id = $1 and destination_id = $2';

/**
 * Encrypts the secrets with the account's key for exactly these settings, and stores them. Call it in the transaction that
 * stored the settings. Returns the account's key.
 */
export async function storeDestinationSecrets(
  client: pg.ClientBase,
  secret: SecretKeys,
  bound: BoundDestination,
  secrets: DestinationSecrets,
): Promise<Buffer> {
  const key = await makeAccountKey(client, secret, bound.account_id);
  const encrypted = encrypt([key], labelOf(bound), Buffer.from(JSON.stringify(secrets)));
  await client.query(update, [bound.account_id, bound.destination_id, encrypted]);
  return key;
}

/**
 * Decrypts the secrets of a destination. Throws {@link TamperedDestination} when they were stored with other settings, and
 * a `LostAccountKey` when they were encrypted with another DBVITALS_SECRET_KEY.
 */
export async function openDestinationSecrets(
  client: pg.ClientBase | pg.Pool,
  secret: SecretKeys,
  bound: BoundDestination,
  encrypted: Buffer | null,
): Promise<{ key: Buffer; secrets: DestinationSecrets }> {
  const key = await accountKey(client, secret, bound.account_id);
  if (!encrypted || !key) throw new TamperedDestination(bound.destination_id, 'missing');
  const text = decrypt([key], labelOf(bound), encrypted);
  if (!text) throw new TamperedDestination(bound.destination_id, 'changed');
  return { key, secrets: JSON.parse(text.toString()) as DestinationSecrets };
}

// PostgreSQL stores the fields of jsonb in an order of its own.
function labelOf({ account_id, destination_id, channel, target, settings }: BoundDestination): string {
  const sorted = Object.entries(settings).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify(['dbvitals destination', account_id, destination_id, channel, target, sorted]);
}

const forget = `
  update destination
     set encrypted = null, state = 'disabled', state_reason = $2, state_since = clock_timestamp()
   where account_id = any ($1) and removed_at is null`;

/** Deletes the secrets of these accounts' destinations, and disables them: their key is lost. */
export async function forgetDestinationSecrets(
  client: pg.ClientBase,
  accountIds: readonly number[],
): Promise<void> {
  await client.query(forget, [accountIds, TAMPERED.missing]);
}
