import type pg from 'pg';

/** Where an account lives. `moving`: it is on its way to another cell, and its requests get a 500 meanwhile. */
export interface Place {
  cellId: number;
  state: 'here' | 'moving';
}

/** The account of a key, and where it lives. */
export interface KeyPlace extends Place {
  accountId: number;
}

type Client = pg.Pool | pg.ClientBase;

const selectKeys = `
  select k.hash, k.account_id, a.cell_id, a.state
    from directory_key k
    join directory_account a on a.account_id = k.account_id
   where k.hash = any($1::bytea[])`;

const selectAccount = `
  select cell_id as "cellId", state from directory_account where account_id = $1`;

const selectCounts = 'select cell_id, count(*) as accounts from directory_account group by cell_id';

const insertAccount = `
  insert into directory_account (account_id, cell_id) values ($1, $2) on conflict do nothing`;
const insertKey = 'insert into directory_key (hash, account_id) values ($1, $2)';

// The state that is expected makes two movers of one account take turns: the later one changes nothing.
const update = `
  update directory_account
     set cell_id = $4, state = $5
   where account_id = $1 and cell_id = $2 and state = $3`;

/** Finds keys by their SHA-256, in one query: the hash in latin1 → place. A key that nobody issued is not in the result. */
export async function findKeyPlaces(
  control: Client,
  hashes: readonly Buffer[],
): Promise<Map<string, KeyPlace>> {
  const { rows } = await control.query<{
    hash: Buffer;
    account_id: number;
    cell_id: number;
    state: Place['state'];
  }>({ name: 'find key places', text: selectKeys, values: [hashes] });
  return new Map(
    rows.map((row) => [
      row.hash.toString('latin1'),
      { accountId: row.account_id, cellId: row.cell_id, state: row.state },
    ]),
  );
}

/** Where an account lives; null = the directory does not know it. */
export async function findAccountPlace(control: Client, accountId: number): Promise<Place | null> {
  const { rows } = await control.query<Place>(selectAccount, [accountId]);
  return rows[0] ?? null;
}

/** Whether any account lives anywhere. */
export async function hasAccounts(control: Client): Promise<boolean> {
  return (await control.query('select from directory_account limit 1')).rowCount === 1;
}

/** How many accounts each cell has; a cell without any is not in it. */
export async function countAccounts(control: Client): Promise<Map<number, number>> {
  const { rows } = await control.query<{ cell_id: number; accounts: number }>(selectCounts);
  return new Map(rows.map((row) => [row.cell_id, row.accounts]));
}

/**
 * Adds an account that `cellId` is about to get. Commit it before the account's own row: after a crash between the two, the
 * directory names an account that nobody can use, and no account is in two cells. Returns false, and changes nothing, if the
 * directory has an account of this id.
 */
export async function addAccountPlace(control: Client, accountId: number, cellId: number): Promise<boolean> {
  return (await control.query(insertAccount, [accountId, cellId])).rowCount === 1;
}

/**
 * Adds a key of an account. Commit it before the key's own row: after a crash between the two, the directory names a key that
 * nobody was given, and no live key is unknown.
 */
export async function addKeyPlace(control: Client, hash: Buffer, accountId: number): Promise<void> {
  await control.query(insertKey, [hash, accountId]);
}

/** Changes where an account lives, if it still lives at `from`. Returns whether it did. */
export async function replaceAccountPlace(
  control: Client,
  accountId: number,
  from: Place,
  to: Place,
): Promise<boolean> {
  const { rowCount } = await control.query(update, [accountId, from.cellId, from.state, to.cellId, to.state]);
  return rowCount === 1;
}

/** {@link replaceAccountPlace}, which must succeed. Throws a sentence if the account does not live at `from`. */
export async function changeAccountPlace(
  control: Client,
  accountId: number,
  from: Place,
  to: Place,
): Promise<void> {
  if (!(await replaceAccountPlace(control, accountId, from, to))) {
    throw new Error(
      `Account ${accountId} is not where it was expected (cell ${from.cellId}, ${from.state}): another process is moving it.`,
    );
  }
}
