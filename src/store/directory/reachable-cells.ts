import { openPool } from '../connect.ts';
import { isStoreFailure } from '../store-failure.ts';
import type { Cell, Cells } from './open-cells.ts';

/** A cell that can't be asked now, and the accounts that live there. */
interface AwayCell {
  cellId: number;
  /** A sentence. */
  reason: string;
  accountIds: number[];
}

/** What the cells that answer gave, and those that do not. */
export interface FromReachable<T> {
  done: T[];
  away: AwayCell[];
}

const selectAccounts = 'select account_id as id from directory_account where cell_id = $1 order by 1';
const selectCells = 'select distinct cell_id as id from directory_account order by 1';

/**
 * Runs `work` in one cell after the other. A cell that does not answer, and one that the directory uses and the settings do not
 * name, is passed over. Without a directory an error of the only store is thrown.
 */
export async function workInReachable<T>(
  cells: Cells,
  work: (cell: Cell) => Promise<T>,
): Promise<FromReachable<T>> {
  const done: T[] = [];
  const reasons = new Map<number, string>();
  for (const { id } of cells.places) {
    try {
      done.push(await work(await cells.open(id)));
    } catch (error) {
      if (!cells.directory || !isStoreFailure(error) || !(error instanceof Error)) throw error;
      reasons.set(id, error.message);
    }
  }
  return { done, away: cells.directory ? await findAway(cells, cells.directory, reasons) : [] };
}

async function findAway(
  cells: Cells,
  directory: NonNullable<Cells['directory']>,
  reasons: Map<number, string>,
): Promise<AwayCell[]> {
  const control = openPool(directory.address, 'writer', { max: 1 });
  try {
    const named = new Set(cells.places.map(({ id }) => id));
    for (const { id } of (await control.query<{ id: number }>(selectCells)).rows) {
      if (!named.has(id)) reasons.set(id, `DBVITALS_CELLS_FILE does not name cell ${id}: add it.`);
    }
    const away: AwayCell[] = [];
    for (const [cellId, reason] of reasons) {
      const { rows } = await control.query<{ id: number }>(selectAccounts, [cellId]);
      away.push({ cellId, reason, accountIds: rows.map(({ id }) => id) });
    }
    return away;
  } finally {
    await control.end();
  }
}
