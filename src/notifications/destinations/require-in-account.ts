import type { Change } from '../../activity/record-entry.ts';
import { conflict, invalidParameter } from '../../platform/rejection.ts';

const selectNamed = `
  select destination_id as id
    from destination
   where account_id = $1 and name = $2 and removed_at is null and destination_id is distinct from $3`;

/** Throws a {@link Rejection} when another destination of the account has the name. */
export async function requireFreeName(
  { client, accountId }: Change,
  name: string,
  except: number | null,
): Promise<void> {
  const { rows } = await client.query<{ id: number }>(selectNamed, [accountId, name, except]);
  if (rows[0]) throw conflict('name', `Destination ${rows[0].id} has this name: enter another one.`);
}

const selectForeign = `
  select n.id
    from unnest($2::bigint[]) as n (id)
   where not exists (select from connection c
                      where c.account_id = $1 and c.connection_id = n.id and c.removed_at is null)
   order by n.id
   limit 1`;

/** Throws a {@link Rejection} when one of the ids is no connection of the account. Null = every connection. */
export async function requireOwnConnections(
  { client, accountId }: Change,
  ids: readonly number[] | null,
): Promise<void> {
  if (ids === null) return;
  const [missing] = (await client.query<{ id: number }>(selectForeign, [accountId, ids])).rows;
  if (missing) throw invalidParameter('connections', `There is no connection ${missing.id} in this account.`);
}
