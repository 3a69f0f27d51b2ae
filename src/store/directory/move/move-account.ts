import { changeAccountPlace } from '../directory.ts';
import {
  type AccountMove,
  addMove,
  hasMoved,
  moveEnded,
  readMove,
  removeMove,
  setMoveState,
} from './account-move.ts';
import { catchUp, copyLargeTables } from './copy-in-use.ts';
import type { Sides } from './copy-rows.ts';
import { drain } from './drain.ts';
import { arriveInCell, leaveCell, requireGapless } from './last-step.ts';
import { type MovedTable, readMovedTables } from './moved-tables.ts';
import { lockMove, openSide, requireSameSchema, type Side } from './open-sides.ts';
import { type MoveParts, requirePlace } from './places.ts';
import { dropConnection } from './transaction.ts';
import { removeCopy, reopenCopy } from './undo/remove-copy.ts';
import { requireCopy } from './undo/require-copy.ts';
import { stayAfterFailure } from './undo/stay.ts';

/** A finished move. */
export interface MovedAccount {
  account_id: number;
  from_cell: number;
  to_cell: number;
  /** How long the account's requests were answered with 500, in milliseconds; null = an earlier command began the pause. */
  paused_ms: number | null;
}

/** One move under way. */
interface Moving extends Sides {
  readonly parts: MoveParts;
  readonly fromCell: Side;
  readonly toCell: Side;
  readonly tables: readonly MovedTable[];
  readonly move: AccountMove;
  /** Whether the log may be open in the cell that the account moves to. */
  mayHaveArrived: boolean;
}

/** How long each half of the last step may take, in milliseconds. Together they take 200 ms for a million entries. */
const LAST_STEP_MS = 10_000;

/**
 * Moves an account to another cell while it is in use, or finishes a move that was interrupted. Its requests get a 500 during
 * the last step. If a step fails, the account stays where it is and is served again. Throws sentences.
 */
export async function moveAccount(parts: MoveParts, accountId: number, toId: number): Promise<MovedAccount> {
  const place = await requirePlace(parts.control, accountId);
  const source = place.cellId === toId ? await unfinishedSource(parts, accountId, toId) : place.cellId;
  const fromCell = await openSide(parts, source);
  try {
    const toCell = await openSide(parts, toId);
    try {
      await lockMove(fromCell, accountId);
      // Another command may have ended a move since.
      if ((await requirePlace(parts.control, accountId)).cellId !== place.cellId) throw moveEnded(accountId);
      await requireSameSchema(fromCell, toCell);
      const sides = { accountId, from: fromCell.client, to: toCell.client };
      const tables = await readMovedTables(fromCell.client);
      const move = await begin(parts, sides, { fromCell, toCell, tables });
      const mayHaveArrived = move.state === 'moving';
      return await run({ parts, fromCell, toCell, tables, move, mayHaveArrived, ...sides });
    } finally {
      await toCell.close();
    }
  } finally {
    await fromCell.close();
  }
}

/** The cell from which the account came, if the move's last statements are missing. */
async function unfinishedSource(parts: MoveParts, accountId: number, toId: number): Promise<number> {
  const unreachable: number[] = [];
  for (const cellId of parts.cellIds.filter((id) => id !== toId)) {
    const side = await openSide(parts, cellId).catch(() => null);
    if (side === null) unreachable.push(cellId);
    const move = side && (await readMove(side.client, accountId).finally(() => side.close()));
    if (move?.state === 'moving' && move.otherCell === toId) return cellId;
  }
  const lives = `Account ${accountId} lives in cell ${toId} already.`;
  if (unreachable.length === 0) throw new Error(lives);
  throw new Error(
    `${lives} Whether its move has ended is unknown, because these cells can't be reached: ${unreachable.join(', ')}. Run the command again once they can.`,
  );
}

/** Whether the account's log is open in the cell that it leaves. */
function isInUse({ state }: AccountMove): boolean {
  return state === 'copying' || state === 'draining';
}

const hasAccount = 'select is_here from account where account_id = $1';

/** Adds the rows of the move, or finds those of an interrupted one. */
async function begin(
  { step }: MoveParts,
  { accountId, from, to }: Sides,
  { fromCell, toCell, tables }: Pick<Moving, 'fromCell' | 'toCell' | 'tables'>,
): Promise<AccountMove> {
  const toId = toCell.cellId;
  const known = await readMove(from, accountId);
  if (known?.state === 'moved') throw hasMoved(accountId, fromCell.cellId, known);
  if (known !== null && known.otherCell !== toId) {
    throw new Error(
      `Account ${accountId} is on its way to cell ${known.otherCell}: finish that move with --to ${known.otherCell}, or undo it with --undo.`,
    );
  }
  const arriving = await readMove(to, accountId);
  if (arriving === null) {
    const { rowCount } = await to.query(hasAccount, [accountId]);
    if (rowCount !== 0 && known?.state !== 'moving') throw new Error(isTaken(accountId, toId));
  } else if (arriving.state === 'moved') throw new Error(isForgettable(accountId, toId));
  else if (arriving.moveId !== known?.moveId) {
    // Of a move that was undone while the cell was down.
    await requireCopy(fromCell, toCell, accountId);
    await removeCopy(to, accountId, tables, step);
  } else if (isInUse(known)) {
    // It arrived in a cell that was down when the move was undone.
    await reopenCopy(to, accountId, known, tables);
  }
  const fromId = fromCell.cellId;
  const move = await addMove(from, accountId, { otherCell: toId, state: 'copying' });
  if (isInUse(move))
    await addMove(to, accountId, { moveId: move.moveId, otherCell: fromId, state: 'arriving' });
  return move;
}

function isTaken(accountId: number, cellId: number): string {
  return `Cell ${cellId} holds an account ${accountId} already, and nothing was changed: the directory says that account ${accountId} lives elsewhere, so find out which of the two is right.`;
}

function isForgettable(accountId: number, cellId: number): string {
  return `Cell ${cellId} still has the copy that account ${accountId} left when it moved away: remove it with "dbvitals account move ${accountId} --forget", then move the account.`;
}

async function run(moving: Moving): Promise<MovedAccount> {
  const { accountId, parts, fromCell, toCell, from, to, move } = moving;
  const { step } = parts;
  const ids = { from: fromCell.cellId, to: toCell.cellId };
  let pausedAt: number | null = null;
  const isOpen = isInUse(move);
  const since = isOpen ? await copyInUse(moving) : move.since;
  try {
    if (isOpen) {
      pausedAt = performance.now();
      await limited(moving, () => leaveCell(moving, move));
      step(`closed the log in cell ${ids.from}: requests get 500`);
    }
    await limited(moving, () => handOver(moving, ids, since));
  } catch (error) {
    throw await stayed(moving, error);
  }
  const paused_ms = pausedAt === null ? null : Math.round(performance.now() - pausedAt);
  step(`the directory leads to cell ${ids.to}`);
  await removeMove(to, accountId, move);
  await setMoveState(from, accountId, move, 'moved');
  step(`finished: background work starts in cell ${ids.to}`);
  return { account_id: accountId, from_cell: ids.from, to_cell: ids.to, paused_ms };
}

async function copyInUse(moving: Moving): Promise<string> {
  const { parts, fromCell, toCell, from, accountId, move, tables } = moving;
  const { step } = parts;
  step(`copying the account from cell ${fromCell.cellId} to cell ${toCell.cellId}`);
  await copyLargeTables(moving, move, tables, step);
  const since = await catchUp(moving, move, tables, step);
  await requireGapless(moving);
  await drain(from, accountId, move);
  step('background work has ended');
  return catchUp(moving, { ...move, since }, tables, step);
}

/** Runs a half of the last step. If it takes too long, such as with a cell that falls silent, both connections end. */
async function limited({ from, to }: Sides, work: () => Promise<void>): Promise<void> {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    dropConnection(from);
    dropConnection(to);
  }, LAST_STEP_MS);
  try {
    await work();
  } catch (error) {
    throw isLate
      ? new Error(`the last step took longer than ${LAST_STEP_MS / 1000} s`, { cause: error })
      : error;
  } finally {
    clearTimeout(timer);
  }
}

const isOpenThere = 'select from activity_head where account_id = $1';

/** Completes the copy, if it is not, and lets the directory lead to it. */
async function handOver(moving: Moving, ids: { from: number; to: number }, since: string): Promise<void> {
  const { accountId, from, to, toCell, move, tables } = moving;
  const { control, step } = moving.parts;
  const place = await requirePlace(control, accountId);
  if (place.cellId === ids.to) return;
  const leaving = { cellId: ids.from, state: 'moving' } as const;
  if (place.state === 'here') await changeAccountPlace(control, accountId, place, leaving);
  step('the directory says that the account is moving');
  if ((await readMove(to, accountId))?.state === 'arriving') {
    moving.mayHaveArrived = false;
    const committing = () => {
      moving.mayHaveArrived = true;
    };
    await arriveInCell({ accountId, from, to, toCell: toCell.cellId }, move, { since, tables, committing });
  }
  const { rowCount } = await to.query(isOpenThere, [accountId]);
  if (rowCount !== 1) throw new Error(`The copy of account ${accountId} in cell ${ids.to} is incomplete.`);
  step(`opened the log in cell ${ids.to}`);
  await changeAccountPlace(control, accountId, leaving, { cellId: ids.to, state: 'here' });
}

/** Lets the account stay in its cell after a failure. Returns the error to throw. */
async function stayed(moving: Moving, cause: unknown): Promise<Error> {
  const { accountId, fromCell } = moving;
  const reason = cause instanceof Error ? cause.message.replace(/\.$/, '') : 'unknown error';
  try {
    await stayAfterFailure(moving);
    return new Error(
      `Account ${accountId} was not moved, and cell ${fromCell.cellId} serves it again: ${reason}. Run the command again, or undo the move with --undo.`,
      { cause },
    );
  } catch {
    return new Error(
      `The move of account ${accountId} stopped, and its requests may get 500: ${reason}. Run the command again to finish it, or undo it with --undo.`,
      { cause },
    );
  }
}
