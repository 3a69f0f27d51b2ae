import type { ChangeAccount } from '../activity/record-entry.ts';
import { forgetFacts } from '../changes/redaction-key.ts';
import { endAlertsOfRemoved } from '../notifications/alerts/resolve-alerts-of.ts';
import { queueMemberChanges } from '../notifications/outbox/ticket-events.ts';
import { resolveTicketsOf } from '../ops/record-findings.ts';
import { forgetQueries } from '../queries/store-queries.ts';
import { NoConnection } from './connection-rejected.ts';
import { type ConnectionRow, pageOf, readConnection } from './connection-row.ts';
import { forgetTags } from './tags/change-tags.ts';

const remove = `
  update connection
     set removed_at = $3, credential = null, ssh_credential = null
   where account_id = $1 and connection_id = $2 and removed_at is null`;

const stopSchedule = `
  update connection_schedule set due_at = 'infinity'
   where account_id = $1 and connection_id = $2`;

/**
 * Removes a connection: it is no longer listed or checked, its password and SSH key are deleted, and its tickets and
 * alerts are resolved. Throws {@link NoConnection}.
 */
export async function removeConnection(change: ChangeAccount, connectionId: number): Promise<ConnectionRow> {
  return change(async (within) => {
    const { accountId, client, at, record } = within;
    const ids = [accountId, connectionId];
    const { rowCount } = await client.query(remove, [...ids, at]);
    if (rowCount === 0) throw new NoConnection(connectionId);
    await client.query(stopSchedule, ids);
    await forgetFacts(client, accountId, connectionId);
    await forgetQueries(client, accountId, connectionId);
    const { id, name, host, port, ...row } = await readConnection(client, accountId, connectionId);
    record('connection_removed', pageOf(id), { connection_id: id, name, host, port });
    const scope = { accountId, connectionId, at };
    const tickets = await resolveTicketsOf(client, { ...scope, reason: 'connection removed' });
    for (const entry of tickets) record(entry.actionType, entry.pagePath, entry.properties);
    await queueMemberChanges(client, scope, tickets);
    await endAlertsOfRemoved(within, connectionId);
    await forgetTags(client, accountId, connectionId); // last, because they decide who is told of the above
    return { id, name, host, port, ...row };
  });
}
