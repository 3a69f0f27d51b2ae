import type pg from 'pg';

/** Runs a statement of an endpoint and gives its rows. */
export type Read = <Row>(statement: string, values: unknown[]) => Promise<Row[]>;

/**
 * Reads for an account: `work` runs as the reader, in one snapshot, behind row-level security. Gives what it gave and
 * the account's generation in that snapshot. On a pipelining pool it costs two round trips when `work` reads once.
 */
export async function readAs<T>(
  reader: pg.Pool,
  accountId: number,
  work: (read: Read) => Promise<T>,
): Promise<{ result: T; generation: number }> {
  const client = await reader.connect();
  let broken: Error | undefined;
  try {
    // SET takes no parameters; an account's identifier is a number that the store itself gave out.
    const begun = client.query(
      `begin isolation level repeatable read read only; set local dbvitals.account_id = ${Number(accountId)}`,
    );
    const generation = client.query<{ generation: number }>(
      'select generation from account where account_id = $1',
      [accountId],
    );
    const result = work(async (statement, values) => (await client.query(statement, values)).rows);
    const [, head, answer] = await Promise.all([begun, generation, result]);
    await client.query('commit');
    return { result: answer, generation: head.rows[0]?.generation ?? 0 };
  } catch (error) {
    await client.query('rollback').catch((cause: Error) => {
      broken = cause;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
