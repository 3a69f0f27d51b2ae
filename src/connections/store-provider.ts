import type pg from 'pg';
import type { Provider } from '../vocabulary/hosted/providers.ts';

const update = `
  update connection set provider = $3
   where account_id = $1 and connection_id = $2 and provider is distinct from $3`;

/** Stores who hosts a connection's server, as a run recognised it; null = nobody that is known. */
export async function storeProvider(
  client: pg.ClientBase,
  { accountId, connectionId }: { accountId: number; connectionId: number },
  provider: Provider | null,
): Promise<void> {
  await client.query(update, [accountId, connectionId, provider]);
}
