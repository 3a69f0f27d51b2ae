import type { ChangeAccount } from '../activity/record-entry.ts';
import { forgetFacts } from '../changes/redaction-key.ts';
import { resolveTicketsOf } from '../ops/record-findings.ts';
import { NoConnection } from './connection-rejected.ts';
import { type ConnectionRow, pageOf, readConnection } from './connection-row.ts';

const remove = `
  update connection
     set removed_at = $3, credential = null, ssh_credential = null
   where account_id = $1 and connection_id = $2 and removed_at is null`;

const stopSchedule = `
  update connection_schedule set due_at = 'infinity'
   where account_id = $1 and connection_id = $2`;

/**
 * Removes a connection: it is no longer listed or checked, its password and SSH key are deleted, and its tickets are
 * resolved. Throws {@link NoConnection}.
 */
export async function removeConnection(change: ChangeAccount, connectionId: number): Promise<ConnectionRow> {
  return change(async ({ accountId, client, at, record }) => {
    const ids = [accountId, connectionId];
    const { rowCount } = await client.query(remove, [...ids, at]);
    if (rowCount === 0) throw new NoConnection(connectionId);
    await client.query(stopSchedule, ids);
    await forgetFacts(client, accountId, connectionId);
    const { id, name, host, port, ...row } = await readConnection(client, accountId, connectionId);
    record('connection_removed', pageOf(id), { connection_id: id, name, host, port });
    const reason = 'connection removed';
    for (const entry of await resolveTicketsOf(client, { accountId, connectionId, at, reason })) {
      record(entry.actionType, entry.pagePath, entry.properties);
    }
    return { id, name, host, port, ...row };
  });
}
