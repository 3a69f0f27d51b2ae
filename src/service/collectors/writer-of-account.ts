import type pg from 'pg';
import { accountMoving } from '../../store/directory/console-stores.ts';
import { findAccountPlace } from '../../store/directory/directory.ts';
import { StoreUnavailable } from '../../store/store-failure.ts';
import type { ServedCells } from '../served-cells.ts';

/**
 * Returns what finds the pool of the service's own work on the store of an account: null if no store has the account. `control` is a pool
 * of the writer on the control store; null = there is one store.
 */
export function writerOfAccount(
  served: Pick<ServedCells, 'list'>,
  control: pg.Pool | null,
): (accountId: number) => Promise<pg.Pool | null> {
  const writerOf = (cellId: number | null) => {
    const cell = cellId === null ? served.list[0] : served.list.find(({ place }) => place.id === cellId);
    if (!cell?.opened || !cell.hasSecret) throw new StoreUnavailable('the store of the account is not open');
    return cell.opened.writer;
  };
  return async (accountId) => {
    if (control === null) return writerOf(null);
    const place = await findAccountPlace(control, accountId);
    if (place === null) return null;
    if (place.state === 'moving') throw accountMoving;
    return writerOf(place.cellId);
  };
}
