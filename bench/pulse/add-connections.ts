import { PASSWORD, type PostgresServer } from '../../test/checks/postgres-server.ts';
import type { TestStore } from '../../test/support/store.ts';

/** Makes a server accept so many pulses, and as many runs. */
export async function makeRoom(server: PostgresServer, connections: number): Promise<void> {
  await server.run(`alter system set max_connections = ${Math.max(100, 2 * connections)}`);
  await server.restart();
}

/** Adds an account with so many connections to a server. Returns its id. */
export async function addConnections(
  store: TestStore,
  server: PostgresServer,
  { count, checks }: { count: number; checks: 'due' | 'none' },
): Promise<number> {
  const accountId = await store.account();
  for (let n = 0; n < count; n++) {
    const { host, port } = server;
    const place = { host, port, database: 'shop', name: `pulsed ${n}` };
    const connectionId = await store.connection(accountId, place);
    await store.set({ accountId, connectionId }, {}, { password: PASSWORD });
  }
  const [every, due] = checks === 'due' ? ['5 min', '0 s'] : ['1 d', '1 d'];
  await store.writer.query(
    `insert into connection_schedule (account_id, connection_id, every, due_at)
     select account_id, connection_id, $1, now() + $2::interval from connection where account_id = $3`,
    [every, due, accountId],
  );
  return accountId;
}
