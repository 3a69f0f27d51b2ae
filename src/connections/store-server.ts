import type pg from 'pg';
import type { Provider } from '../vocabulary/hosted/providers.ts';

const updateProvider = `
  update connection set provider = $3
   where account_id = $1 and connection_id = $2 and provider is distinct from $3`;

/** Stores who hosts a connection's server, as a run recognised it; null = nobody that is known. */
export async function storeProvider(
  client: pg.ClientBase,
  { accountId, connectionId }: { accountId: number; connectionId: number },
  provider: Provider | null,
): Promise<void> {
  await client.query(updateProvider, [accountId, connectionId, provider]);
}

// A version that stays is not written again: an update locks the row, which is a write too.
const storeChanged = `
  insert into connection_version (account_id, connection_id, version, since)
  select $1, $2, $3::integer, $4
   where not exists (select from connection_version where account_id = $1 and connection_id = $2 and version = $3)
  on conflict (account_id, connection_id) do update set version = excluded.version, since = excluded.since`;

/** Stores the version of a connection's server, as a run measured it, if it is another than before. */
export async function storeVersion(
  client: pg.ClientBase,
  { accountId, connectionId, at }: { accountId: number; connectionId: number; at: string },
  version: number,
): Promise<void> {
  await client.query(storeChanged, [accountId, connectionId, version, at]);
}
