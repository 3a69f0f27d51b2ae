import type pg from 'pg';
import { one } from '../one.ts';
import { IDS_OF_CELL } from './claim-cell.ts';

// Rows of one exchange.
const STEP = 10_000;

const selectAccounts = `
  select account_id as id
    from account
   where account_id > greatest($1::bigint, $2::bigint) and account_id <= $3 and is_here
   order by account_id
   limit ${STEP}`;

const selectKeys = `
  select k.api_key_id as id, k.hash, k.account_id
    from api_key k
    join account a on a.account_id = k.account_id and a.is_here
   where k.api_key_id > $1 and k.valid_until > clock_timestamp()
   order by k.api_key_id
   limit ${STEP}`;

const insertAccounts = `
  with added as (
    insert into directory_account (account_id, cell_id)
    select account_id, $2 from unnest($1::bigint[]) as account_id
    on conflict do nothing
    returning 1
  )
  select count(*)::int as added from added`;

// Only keys of accounts that live in this cell: another cell's owner can't add keys to an account.
const insertKeys = `
  with added as (
    insert into directory_key (hash, account_id)
    select k.hash, k.account_id
      from unnest($1::bytea[], $2::bigint[]) as k (hash, account_id)
      join directory_account a on a.account_id = k.account_id and a.cell_id = $3
    on conflict do nothing
    returning 1
  )
  select count(*)::int as added from added`;

type Client = pg.Pool | pg.ClientBase;

// Only of accounts that live in this cell: a copy that an account left keeps its keys.
const countKeys = `
  select count(*)::int as missing
    from unnest($1::bytea[], $2::bigint[]) as k (hash, account_id)
    join directory_account a on a.account_id = k.account_id and a.cell_id = $3
   where not exists (select from directory_key d where d.hash = k.hash and d.account_id = k.account_id)`;

/** How many rows the directory lacked. */
export interface FilledDirectory {
  accounts: number;
  keys: number;
}

/**
 * Adds to the directory what a cell has and the directory lacks: all of an only store that becomes a cell, and what is lost
 * where the control store was restored from an older backup. It takes from a cell only accounts with that cell's own
 * identifiers, and keys of accounts that live there. Changes no row that exists.
 */
export async function fillDirectory(control: Client, cell: Client, cellId: number): Promise<FilledDirectory> {
  const filled: FilledDirectory = { accounts: 0, keys: 0 };
  for await (const ids of accountsOf(cell, cellId)) {
    const { rows } = await control.query<{ added: number }>(insertAccounts, [ids, cellId]);
    filled.accounts += one(rows, 'add accounts to the directory').added;
  }
  for await (const { hashes, accounts } of keysOf(cell)) {
    const { rows } = await control.query<{ added: number }>(insertKeys, [hashes, accounts, cellId]);
    filled.keys += one(rows, 'add keys to the directory').added;
  }
  return filled;
}

/** Counts the valid keys of accounts that live in a cell and that the directory lacks, or has of another account. Changes nothing. */
export async function countMissingKeys(control: Client, cell: Client, cellId: number): Promise<number> {
  let missing = 0;
  for await (const { hashes, accounts } of keysOf(cell)) {
    const { rows } = await control.query<{ missing: number }>(countKeys, [hashes, accounts, cellId]);
    missing += one(rows, 'count missing keys').missing;
  }
  return missing;
}

async function* accountsOf(cell: Client, cellId: number): AsyncGenerator<number[]> {
  const before = (cellId - 1) * IDS_OF_CELL;
  for (let last = 0, more = true; more; ) {
    const { rows } = await cell.query<{ id: number }>(selectAccounts, [last, before, before + IDS_OF_CELL]);
    yield rows.map(({ id }) => id);
    last = rows.at(-1)?.id ?? last;
    more = rows.length === STEP;
  }
}

async function* keysOf(cell: Client): AsyncGenerator<{ hashes: Buffer[]; accounts: number[] }> {
  for (let last = 0, more = true; more; ) {
    const { rows } = await cell.query<{ id: number; hash: Buffer; account_id: number }>(selectKeys, [last]);
    yield { hashes: rows.map(({ hash }) => hash), accounts: rows.map((row) => row.account_id) };
    last = rows.at(-1)?.id ?? last;
    more = rows.length === STEP;
  }
}
