import type pg from 'pg';

/** Runs a statement of an endpoint and gives its rows. */
export type Read = <Row>(statement: string, values: unknown[]) => Promise<Row[]>;

/** What a change reads, in its own transaction. */
export function within(client: pg.ClientBase): Read {
  return async (statement, values) => (await client.query(statement, values)).rows;
}

/**
 * Reads for an account: `work` runs as the pool's role, the reader or the console, in one snapshot, behind row-level
 * security. Gives what it gave and the account's generation in that snapshot. On a pipelining pool it costs two round trips
 * when `work` reads once.
 */
export async function readAs<T>(
  reader: pg.Pool,
  accountId: number,
  work: (read: Read) => Promise<T>,
): Promise<{ result: T; generation: number }> {
  return readWithin(reader, `dbvitals.account_id = ${Number(accountId)}`, async (read) => {
    const generation = read<{ generation: number }>('select generation from account where account_id = $1', [
      accountId,
    ]);
    const [[head], result] = await Promise.all([generation, work(read)]);
    return { result, generation: head?.generation ?? 0 };
  });
}

/** Reads what belongs to a person and not to an account: {@link readAs} for a login, as the console alone may. */
export function readOwn<T>(reader: pg.Pool, loginId: number, work: (read: Read) => Promise<T>): Promise<T> {
  return readWithin(reader, `dbvitals.login_id = ${Number(loginId)}`, work);
}

/** `setting` is what the policies go by. SET takes no parameters; an identifier is a number that the store itself gave out. */
async function readWithin<T>(reader: pg.Pool, setting: string, work: (read: Read) => Promise<T>): Promise<T> {
  const client = await reader.connect();
  let broken: Error | undefined;
  try {
    const begun = client.query(`begin isolation level repeatable read read only; set local ${setting}`);
    const worked = work(within(client));
    const [, result] = await Promise.all([begun, worked]);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((cause: Error) => {
      broken = cause;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
