import { hasMoved, isLeaving, readMove, removeMove } from '../account-move.ts';
import { readMovedTables } from '../moved-tables.ts';
import { lockMove, openSide } from '../open-sides.ts';
import { type MoveParts, requirePlace } from '../places.ts';
import { removeCopy } from './remove-copy.ts';
import { requireCopy } from './require-copy.ts';
import { stay } from './stay.ts';

/** An undone move. */
export interface UndoneMove {
  account_id: number;
  cell: number;
  /** Whether the other cell's copy was removed; false = the cell could not be reached. */
  copy_removed: boolean;
}

/** Undoes a move that is not complete: the account stays in its cell, and the copy is removed. Throws sentences. */
export async function undoMove(parts: MoveParts, accountId: number): Promise<UndoneMove> {
  const { control, step } = parts;
  const { cellId } = await requirePlace(control, accountId);
  const fromCell = await openSide(parts, cellId);
  try {
    await lockMove(fromCell, accountId);
    const move = await readMove(fromCell.client, accountId);
    if (move === null)
      throw new Error(`Account ${accountId} lives in cell ${cellId} and is not on its way to another one.`);
    if (move.state === 'moved') throw hasMoved(accountId, cellId, move);
    if (!isLeaving(move)) {
      throw new Error(
        `The move of account ${accountId} to cell ${cellId} is complete: run it again to finish it. It can't be undone, but the account can move back.`,
      );
    }
    const tables = await readMovedTables(fromCell.client);
    const toCell = await openSide(parts, move.otherCell).catch(() => null);
    try {
      if (toCell) await requireCopy(fromCell, toCell, accountId);
      await stay({ control, accountId, fromCell, toCell, move, tables });
      await removeMove(fromCell.client, accountId, move);
      step(`cell ${cellId} serves the account`);
      if (toCell) await removeCopy(toCell.client, accountId, tables, step);
      return { account_id: accountId, cell: cellId, copy_removed: toCell !== null };
    } finally {
      await toCell?.close();
    }
  } finally {
    await fromCell.close();
  }
}

const livesHere = `
  select from account a
    join activity_head h using (account_id)
   where account_id = $1 and a.is_here and not exists (select from account_move m where m.account_id = a.account_id)`;
const hasCopy = `
  select from account where account_id = $1 union all select from account_move where account_id = $1`;

/** What `--forget` removed. */
export interface ForgottenCopies {
  account_id: number;
  /** The cell that the account lives in. */
  cell: number;
  /** The cells whose copies were removed. */
  removed_from: number[];
}

/**
 * Removes the copies of an account that other cells still have: those that it left, and those of undone moves. Throws a sentence
 * if a move is not finished, or if a cell can't be reached.
 */
export async function forgetCopies(parts: MoveParts, accountId: number): Promise<ForgottenCopies> {
  const { control, cellIds, step } = parts;
  const { cellId } = await requirePlace(control, accountId);
  const home = await openSide(parts, cellId);
  try {
    await lockMove(home, accountId);
    const { rowCount } = await home.client.query(livesHere, [accountId]);
    const place = await requirePlace(control, accountId);
    if (rowCount !== 1 || place.cellId !== cellId || place.state !== 'here') {
      throw new Error(
        `Account ${accountId} is on its way, and nothing was removed: finish its move, or undo it with --undo.`,
      );
    }
    const tables = await readMovedTables(home.client);
    const removed_from: number[] = [];
    for (const other of cellIds.filter((id) => id !== cellId)) {
      const side = await openSide(parts, other);
      try {
        if ((await side.client.query(hasCopy, [accountId])).rowCount === 0) continue;
        await requireCopy(home, side, accountId);
        await removeCopy(side.client, accountId, tables, step);
        removed_from.push(other);
      } finally {
        await side.close();
      }
    }
    return { account_id: accountId, cell: cellId, removed_from };
  } finally {
    await home.close();
  }
}
