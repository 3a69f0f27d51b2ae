import type pg from 'pg';

/** Runs `work` in a transaction of a connection. An error rolls it back. `how` is such as `isolation level repeatable read`. */
export async function transaction<T>(client: pg.ClientBase, work: () => Promise<T>, how = ''): Promise<T> {
  await client.query(`begin ${how}`);
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

/** Ends a connection at once, whatever it waits for. Its statements fail, and PostgreSQL rolls its transaction back. */
export function dropConnection(client: pg.Client): void {
  client.connection.stream.destroy();
}
