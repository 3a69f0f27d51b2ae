import type pg from 'pg';
import { one } from '../../one.ts';
import { IDS_OF_CELL } from '../claim-cell.ts';
import type { MovedTable } from './moved-tables.ts';
import type { Side } from './open-sides.ts';

const check = (table: string, id: string) => `
  with taken as (
    select own.${id} as id, other.account_id
      from ${table} own
      join ${table} other on other.${id} = own.${id} and other.account_id <> own.account_id
     where own.account_id = $1
     limit 1
  ), sequence as (
    select coalesce(last_value, 0) as last
      from pg_sequences
     where format('%I.%I', schemaname, sequencename)::regclass = pg_get_serial_sequence('${table}', '${id}')::regclass
  )
  select (select id from taken) as taken, (select account_id from taken) as owner,
         (select max(${id}) from ${table}, sequence
           where account_id = $1 and ${id} > greatest(last, $2) and ${id} <= $3) as ahead`;

/**
 * Throws if a row that the account brought along has a number that the cell gave to another account, or will give to one. That
 * happens only if the cell was restored from a backup while the account lived elsewhere, or if somebody wrote the row.
 */
export async function requireUniqueIds(
  { cellId, client }: Pick<Side, 'cellId' | 'client'>,
  accountId: number,
  tables: readonly MovedTable[],
): Promise<void> {
  const values = [accountId, (cellId - 1) * IDS_OF_CELL, cellId * IDS_OF_CELL];
  for (const { name, identity, isNamed } of tables) {
    if (identity !== null && isNamed)
      refuse(name, identity, await numbersOf(client, check(name, identity), values), { cellId, accountId });
  }
}

interface Numbers {
  taken: number | null;
  owner: number | null;
  ahead: number | null;
}

async function numbersOf(client: pg.ClientBase, statement: string, values: number[]): Promise<Numbers> {
  return one((await client.query<Numbers>(statement, values)).rows, 'compare the numbers of two accounts');
}

function refuse(
  table: string,
  identity: string,
  { taken, owner, ahead }: Numbers,
  { cellId, accountId }: { cellId: number; accountId: number },
): void {
  if (taken !== null) {
    throw new Error(
      `Account ${accountId} has a row of ${table} with id ${taken}, which account ${owner} has in cell ${cellId}: remove one of the two first.`,
    );
  }
  if (ahead !== null) {
    throw new Error(
      `Cell ${cellId} would issue ids of ${table} up to ${ahead} again, which account ${accountId} has, because it was restored from a backup: run this there as its owner: select setval(pg_get_serial_sequence('${table}', '${identity}'), ${ahead})`,
    );
  }
}
