import type { ChangeAccount } from '../../activity/record-entry.ts';

const select = `
  select t.text
    from query_text t
    join connection c using (account_id, connection_id)
   where account_id = $1 and connection_id = $2 and query = $3 and c.query_texts and c.removed_at is null`;

/**
 * The normalized text of a query, and an entry in the account's log that somebody read it, without the text. Null if none
 * is stored.
 */
export async function readQueryText(
  change: ChangeAccount,
  connectionId: number,
  query: string,
  actor: Readonly<Record<string, unknown>> = {},
): Promise<string | null> {
  return change(async ({ accountId, client, record }) => {
    const { rows } = await client.query<{ text: string }>(select, [accountId, connectionId, query]);
    const [row] = rows;
    if (!row) return null;
    record('query_text_read', `/connections/${connectionId}`, {
      connection_id: connectionId,
      query,
      ...actor,
    });
    return row.text;
  });
}
