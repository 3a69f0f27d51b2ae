import { SAMPLE_TARGET } from '../../../connections/sample-marks.ts';
import { storeDestinationSecrets } from '../../../notifications/destinations/destination-secrets.ts';
import type { SecretKeys } from '../../../platform/encryption.ts';
import { inTransaction } from '../../../store/connect.ts';
import { type SampleTarget, toTimestamp } from '../sample-target.ts';

const NAME = 'Team letter (sample)';
/** A chat takes digests, and of chats only Mattermost has addresses of any host. */
const CHANNEL = 'mattermost';
const DIGEST = { every: 'mon', at: '07:00', time_zone: 'UTC' };

// No kinds of events and no time of a next digest: sample data sends nothing. An account may have been filled before.
const insert = `
  with added as (
    insert into destination (account_id, name, channel, target, settings, kinds, digest, state_since, created_at)
    select $1, $2, $6, $3, '{}', '{}', $4, $5, $5
     where not exists (select from destination where account_id = $1 and lower(name) = lower($2) and removed_at is null)
    returning account_id, destination_id
  )
  insert into destination_queue (account_id, destination_id, epoch, tokens, tokens_at)
  select account_id, destination_id, 'sample', 50, $5 from added
  returning destination_id as id`;

/** Writes a destination that shows a weekly digest, and gets none until a member changes it. */
export async function writeDestination(
  { writer, accountId, history }: SampleTarget,
  secret: SecretKeys,
): Promise<void> {
  await inTransaction(writer, async (client) => {
    const values = [accountId, NAME, SAMPLE_TARGET, DIGEST, toTimestamp(history.start), CHANNEL];
    const { rows } = await client.query<{ id: number }>(insert, values);
    const [added] = rows;
    if (!added) return;
    const { id } = added;
    const bound = {
      account_id: accountId,
      destination_id: id,
      channel: CHANNEL,
      target: SAMPLE_TARGET,
      settings: {},
    } as const;
    await storeDestinationSecrets(client, secret, bound, { url: `${SAMPLE_TARGET}/hooks/sample` });
  });
}
