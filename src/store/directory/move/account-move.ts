import { randomUUID } from 'node:crypto';
import type pg from 'pg';

/**
 * In the cell that the account leaves: `copying` = it is in use; `draining` = no background work starts; `moving` = its log
 * is closed; `moved` = it lives in the other cell. In the cell that it moves to: `arriving` = its copy is incomplete;
 * `arrived` = complete, and the log is open.
 */
export type MoveState = 'copying' | 'draining' | 'moving' | 'moved' | 'arriving' | 'arrived';

/** A cell's row of an account that moves. */
export interface AccountMove {
  moveId: string;
  otherCell: number;
  state: MoveState;
  /** The transactions from it on may have changed rows since they were copied. */
  since: string;
}

/** Another command has ended the move, or taken it over. */
export function moveEnded(accountId: number): Error {
  return new Error(`Another command ended the move of account ${accountId}: nothing more was changed.`);
}

/** Whether a cell's row is of an account that has not left it yet. */
export function isLeaving({ state }: AccountMove): boolean {
  return state === 'copying' || state === 'draining' || state === 'moving';
}

/** The error if the directory leads to a cell that the account has left, such as after a restore of the control store. */
export function hasMoved(accountId: number, cellId: number, { otherCell }: AccountMove): Error {
  return new Error(
    `Account ${accountId} has moved from cell ${cellId} to cell ${otherCell}, but the directory leads to cell ${cellId}: run "dbvitals migrate", which corrects the directory.`,
  );
}

type Client = pg.ClientBase | pg.Pool;

const columns = `move_id as "moveId", other_cell as "otherCell", state, since::text`;
const select = `select ${columns} from account_move where account_id = $1`;
const insert = `
  insert into account_move (account_id, move_id, other_cell, state) values ($1, $2, $3, $4)
  on conflict (account_id) do nothing`;
const setState = 'update account_move set state = $3 where account_id = $1 and move_id = $2';
const remove = 'delete from account_move where account_id = $1 and move_id = $2';

/** Reads a cell's row of the account; null = the account does not move there. With `lock` until the transaction ends. */
export async function readMove(client: Client, accountId: number, lock = false): Promise<AccountMove | null> {
  const { rows } = await client.query<AccountMove>(`${select}${lock ? ' for update' : ''}`, [accountId]);
  return rows[0] ?? null;
}

/** Adds a cell's row, unless it has one. Returns the row that it has. */
export async function addMove(
  client: Client,
  accountId: number,
  { moveId = randomUUID(), otherCell, state }: Omit<AccountMove, 'since' | 'moveId'> & { moveId?: string },
): Promise<AccountMove> {
  await client.query(insert, [accountId, moveId, otherCell, state]);
  const move = await readMove(client, accountId);
  if (move === null) throw moveEnded(accountId);
  return move;
}

/** Changes the state in a cell. Throws if another command ended the move. */
export async function setMoveState(
  client: Client,
  accountId: number,
  { moveId }: Pick<AccountMove, 'moveId'>,
  state: MoveState,
): Promise<void> {
  const { rowCount } = await client.query(setState, [accountId, moveId, state]);
  if (rowCount !== 1) throw moveEnded(accountId);
}

/** Removes a cell's row. */
export async function removeMove(
  client: Client,
  accountId: number,
  { moveId }: Pick<AccountMove, 'moveId'>,
): Promise<void> {
  await client.query(remove, [accountId, moveId]);
}

const renew = `
  update account_move set move_id = gen_random_uuid(), since = pg_snapshot_xmin(pg_current_snapshot())`;

/**
 * Makes the moves of a store that was just restored begin again: the other cell's copy may be newer than the restored rows, and
 * transactions are numbered anew.
 */
export async function renewMoves(client: Client): Promise<void> {
  await client.query(renew);
}
