import type { ChangeAccount } from '../activity/record-entry.ts';
import { endAlertsOfRemoved } from '../notifications/alerts/resolve-alerts-of.ts';
import { queueMemberChanges } from '../notifications/outbox/ticket-events.ts';
import { notFound } from '../platform/rejection.ts';
import { forgetFacts } from '../runs/changes/redaction-key.ts';
import { forgetQueries } from '../runs/queries/store-queries.ts';
import { resolveConnectionTickets } from '../tickets/record-findings.ts';
import { PAGE_LINKS } from '../vocabulary/page-paths.ts';
import { forgetBackups } from './backups/store-reports.ts';
import { takeFromCollector } from './collected-connection.ts';
import { type ConnectionRow, readConnection } from './connection-row.ts';
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
 * alerts are resolved. Throws `notFound`.
 */
export async function removeConnection(change: ChangeAccount, connectionId: number): Promise<ConnectionRow> {
  return change(async (within) => {
    const { accountId, client, at, record } = within;
    const ids = [accountId, connectionId];
    const { rowCount } = await client.query(remove, [...ids, at]);
    if (rowCount === 0) throw notFound('connection', connectionId);
    await client.query(stopSchedule, ids);
    await takeFromCollector(client, accountId, connectionId);
    await forgetFacts(client, accountId, connectionId);
    await forgetQueries(client, accountId, connectionId);
    await forgetBackups(client, accountId, connectionId);
    const { id, name, host, port, ...row } = await readConnection(client, accountId, connectionId);
    record('connection_removed', PAGE_LINKS.connection(id), { connection_id: id, name, host, port });
    const scope = { accountId, connectionId, at };
    const tickets = await resolveConnectionTickets(client, { ...scope, reason: 'connection removed' });
    for (const entry of tickets) record(entry.actionType, entry.pagePath, entry.properties);
    await queueMemberChanges(client, scope, tickets);
    await endAlertsOfRemoved(within, connectionId);
    await forgetTags(client, accountId, connectionId); // last, because they decide who is told of the above
    return { id, name, host, port, ...row };
  });
}
