import type { StoreAddress } from '../../config/store-url.ts';
import { openPool } from '../connect.ts';
import { countAccounts } from './directory.ts';

/**
 * Throws a sentence if accounts live in a cell that the settings do not name: a service would answer their requests with 500.
 * `control` is the store of the directory.
 */
export async function requireNamedCells(control: StoreAddress, ids: readonly number[]): Promise<void> {
  const owner = openPool(control, 'owner', { max: 1 });
  const counts = await countAccounts(owner).finally(() => owner.end());
  const [unnamed] = [...counts].filter(([id]) => !ids.includes(id)).toSorted(([one], [other]) => one - other);
  if (!unnamed) return;
  const [id, accounts] = unnamed;
  throw new Error(
    `DBVITALS_CELLS_FILE does not name cell ${id}, where ${accounts === 1 ? 'an account lives' : `${accounts} accounts live`}: add it, or first move them with "account move ID --to CELL".`,
  );
}
