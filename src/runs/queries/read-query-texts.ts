import type { ChangeAccount } from '../../activity/record-entry.ts';

const select = `
  select t.query, t.text, c.name
    from query_text t
    join connection c using (account_id, connection_id)
   where account_id = $1 and connection_id = $2 and query = any ($3) and c.query_texts and c.removed_at is null
   order by t.query`;

/** The normalized text of a query. It comes from the watched server: render it as text. */
export interface QueryText {
  query: string;
  text: string;
}

/** The stored texts of queries, and one entry in the account's log that somebody read them, without the texts. */
export async function readQueryTexts(
  change: ChangeAccount,
  connectionId: number,
  queries: readonly string[],
  actor: Readonly<Record<string, unknown>> = {},
): Promise<QueryText[]> {
  return change(async ({ accountId, client, record }) => {
    const { rows } = await client.query<QueryText & { name: string }>(select, [
      accountId,
      connectionId,
      queries,
    ]);
    const [first, ...others] = rows;
    if (first === undefined) return [];
    const { name, query } = first;
    record('query_text_read', `/connections/${connectionId}`, {
      connection_id: connectionId,
      name,
      ...(others.length === 0 ? { query } : { queries: rows.map((row) => row.query) }),
      ...actor,
    });
    return rows.map((row) => ({ query: row.query, text: row.text }));
  });
}
