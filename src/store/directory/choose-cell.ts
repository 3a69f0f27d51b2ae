import type pg from 'pg';
import { openPool } from '../connect.ts';
import { isStoreFailure } from '../store-failure.ts';
import type { CellPlace } from './cell-places.ts';
import { cellOfId } from './claim-cell.ts';
import { countAccounts } from './directory.ts';
import { accountOfThing, cellOfAccount, type Subject } from './find-cell.ts';
import type { Cell, Cells } from './open-cells.ts';

/** The store of the directory. Throws a sentence if there is only one store. */
export function requireDirectory({ directory }: Cells): NonNullable<Cells['directory']> {
  if (directory) return directory;
  throw new Error(
    'There is one store, and accounts have nowhere to move: name cells in DBVITALS_CELLS_FILE.',
  );
}

/** Opens the cell of a subject. Null if there are several cells and no subject. Throws a sentence if it is in no cell. */
export async function chooseCell(cells: Cells, subject: Subject | null): Promise<Cell | null> {
  const [first, ...others] = cells.places;
  if (!cells.directory || others.length === 0) return cells.open(first.id);
  if (subject === null) return null;
  const control = openPool(cells.directory.address, 'writer', { max: 1 });
  return cellOfSubject(cells, control, subject).finally(() => control.end());
}

/** Opens the cell with the fewest accounts among those that accept new ones. */
export async function chooseEmptiestCell(cells: Cells): Promise<Cell> {
  const [first, ...others] = cells.places;
  if (!cells.directory || others.length === 0) return cells.open(first.id);
  const control = openPool(cells.directory.address, 'writer', { max: 1 });
  const counts = await countAccounts(control).finally(() => control.end());
  const emptiestFirst = cells.places
    .filter(({ acceptsNew }) => acceptsNew)
    .toSorted((one, other) => (counts.get(one.id) ?? 0) - (counts.get(other.id) ?? 0));
  const found = await firstOf(emptiestFirst, ({ id }) => cells.open(id));
  if (found) return found;
  throw new Error('No cell accepts new accounts: set accepts_new in DBVITALS_CELLS_FILE, or give --cell.');
}

async function cellOfSubject(cells: Cells, control: pg.Pool, subject: Subject): Promise<Cell> {
  if ('account' in subject) return cells.open(await cellOfAccount(control, subject.account));
  // Most things are still in the cell that made them.
  const origin = cellOfId(subject.id);
  const originFirst = cells.places.toSorted(
    (one, other) => Number(other.id === origin) - Number(one.id === origin),
  );
  const found = await firstOf(originFirst, async ({ id }) => {
    const cell = await cells.open(id);
    const pool = openPool(cell.store.address, 'writer', { max: 1 });
    const account = await accountOfThing(pool, subject).finally(() => pool.end());
    // An account that was moved may have left a copy behind.
    return account !== null && (await cellOfAccount(control, account)) === id ? cell : null;
  });
  if (found) return found;
  throw new Error(`There is no ${subject.kind} ${subject.id}.`);
}

/**
 * The first result that `find` has in one of the cells; null = none. A cell that is down is passed over, and its error thrown
 * if no other one has a result.
 */
async function firstOf(
  places: readonly CellPlace[],
  find: (place: CellPlace) => Promise<Cell | null>,
): Promise<Cell | null> {
  let failure: unknown = null;
  for (const place of places) {
    try {
      const found = await find(place);
      if (found) return found;
    } catch (error) {
      if (!isStoreFailure(error)) throw error;
      failure ??= error;
    }
  }
  if (failure !== null) throw failure;
  return null;
}
