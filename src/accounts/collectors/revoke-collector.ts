import type { Change } from '../../activity/record-entry.ts';
import { notFound } from '../../platform/rejection.ts';
import { within } from '../../store/read.ts';
import { type CollectorRow, listCollectors } from './collector-row.ts';

const revoke = `
  update collector
     set revoked_at = $3, token_hash = null, token_expires_at = null, token_by = null
   where account_id = $1 and collector_id = $2 and revoked_at is null`;

/**
 * Revokes a collector: none of its requests is accepted any more, and neither is a token for it. Its connections stay, and are not
 * measured until it is enrolled again.
 */
export async function revokeCollector(
  { accountId, client, at, record }: Change,
  collectorId: number,
): Promise<CollectorRow> {
  const { rowCount } = await client.query(revoke, [accountId, collectorId, at]);
  const [collector] = await listCollectors(within(client), accountId, collectorId);
  if (!collector) throw notFound('collector', collectorId, ': see "collector list".');
  if (rowCount === 1)
    record('collector_revoked', '/collectors', { collector_id: collectorId, name: collector.name });
  return collector;
}
