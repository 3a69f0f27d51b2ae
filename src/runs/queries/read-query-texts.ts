import type { ChangeAccount } from '../../activity/record-entry.ts';

const select = `
  select t.query, t.text
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
    const { rows } = await client.query<QueryText>(select, [accountId, connectionId, queries]);
    const [first, ...others] = rows.map(({ query }) => query);
    if (first === undefined) return [];
    record('query_text_read', `/connections/${connectionId}`, {
      connection_id: connectionId,
      ...(others.length === 0 ? { query: first } : { queries: [first, ...others] }),
      ...actor,
    });
    return rows;
  });
}
