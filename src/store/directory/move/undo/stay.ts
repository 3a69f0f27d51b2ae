import type pg from 'pg';
import { changeAccountPlace, findAccountPlace } from '../../directory.ts';
import { type AccountMove, moveEnded, readMove } from '../account-move.ts';
import { stayInCell } from '../last-step.ts';
import type { MovedTable } from '../moved-tables.ts';
import { lockMoveAgain, openSide, type Side } from '../open-sides.ts';
import type { MoveParts } from '../places.ts';
import { dropConnection } from '../transaction.ts';
import { reopenCopy } from './remove-copy.ts';

interface Staying {
  readonly control: pg.Pool;
  readonly accountId: number;
  readonly fromCell: Side;
  /** Null if the cell can't be reached, or has not opened the log. The directory does not lead there. */
  readonly toCell: Side | null;
  readonly move: AccountMove;
  readonly tables: readonly MovedTable[];
}

/**
 * Lets an account that was about to leave its cell stay there. Throws if the directory leads to the other cell. The directory
 * comes first: from then on, no command can let it lead to the copy.
 */
export async function stay({ control, accountId, fromCell, toCell, move, tables }: Staying): Promise<void> {
  const { cellId } = fromCell;
  const place = await findAccountPlace(control, accountId);
  if (place?.cellId !== cellId) throw new Error(`Account ${accountId} lives in cell ${place?.cellId}.`);
  if (place.state === 'moving')
    await changeAccountPlace(control, accountId, place, { cellId, state: 'here' });
  if (toCell) await reopenCopy(toCell.client, accountId, move, tables);
  await stayInCell({ accountId, from: fromCell.client }, move);
}

/** How long a statement may take that lets an account stay, in milliseconds. */
const STATEMENT_MS = 10_000;

interface Failed {
  readonly parts: MoveParts;
  readonly accountId: number;
  readonly fromCell: Side;
  readonly toCell: Side;
  readonly move: AccountMove;
  readonly tables: readonly MovedTable[];
  readonly mayHaveArrived: boolean;
}

/**
 * Lets an account stay whose last step failed. It uses new connections, because those of the move may be lost, or wait for a
 * cell that is silent. The cell that the account was moving to is needed only if its log may be open there: then this
 * throws if the cell can't be reached, because the log must never be open in both.
 */
export async function stayAfterFailure(failed: Failed): Promise<void> {
  const { parts, accountId, move, tables, mayHaveArrived } = failed;
  dropConnection(failed.fromCell.client);
  dropConnection(failed.toCell.client);
  const fromCell = await openSide(parts, failed.fromCell.cellId, STATEMENT_MS);
  try {
    await lockMoveAgain(fromCell, accountId);
    if ((await readMove(fromCell.client, accountId))?.moveId !== move.moveId) throw moveEnded(accountId);
    const toCell = mayHaveArrived ? await openSide(parts, failed.toCell.cellId, STATEMENT_MS) : null;
    try {
      await stay({ control: parts.control, accountId, fromCell, toCell, move, tables });
    } finally {
      await toCell?.close();
    }
  } finally {
    await fromCell.close();
  }
}
