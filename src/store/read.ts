import type pg from 'pg';

/** Runs a statement of an endpoint and returns its rows. */
export type Read = <Row>(statement: string, values: unknown[]) => Promise<Row[]>;

/** Reads within a change's own transaction. */
export function within(client: pg.ClientBase | pg.Pool): Read {
  return async (statement, values) => (await client.query(statement, values)).rows;
}

/**
 * Reads for an account: `work` runs as the pool's role, the reader or the console, in one snapshot, under row-level
 * security. Returns its result and the account's generation in that snapshot. On a pipelining pool this takes two round trips
 * if `work` reads once.
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

/** Reads data of a person instead of an account: {@link readAs} for a login. Only the console may do this. */
export function readOwn<T>(reader: pg.Pool, loginId: number, work: (read: Read) => Promise<T>): Promise<T> {
  return readWithin(reader, `dbvitals.login_id = ${Number(loginId)}`, work);
}

/** The policies use `setting`. SET takes no parameters, but the identifier in it is a number from the store. */
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
