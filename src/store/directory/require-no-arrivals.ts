import type { StoreAddress } from '../../config/store-url.ts';
import { openPool, STORE_DEADLINE_MS } from '../connect.ts';
import { isStoreFailure } from '../store-failure.ts';

const selectArriving = `
  select account_id from account_move where state = 'arriving' order by account_id limit 1`;

/** Throws a sentence if an account is being moved to a cell that the settings lack. One that does not answer has no arrivals. */
export async function requireNoArrivals(cell: StoreAddress, id: number): Promise<void> {
  const owner = openPool(cell, 'owner', { max: 1, statementTimeout: STORE_DEADLINE_MS });
  try {
    const { rows } = await owner.query<{ account_id: number }>(selectArriving);
    const [arriving] = rows;
    if (arriving)
      throw new Error(
        `DBVITALS_CELLS_FILE does not name cell ${id}, to which account ${arriving.account_id} is being moved: add it, or first undo the move with "account move ${arriving.account_id} --undo".`,
      );
  } catch (error) {
    if (!isStoreFailure(error)) throw error;
  } finally {
    await owner.end();
  }
}
