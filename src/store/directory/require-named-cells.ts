import type pg from 'pg';
import type { StoreAddress } from '../../config/store-url.ts';
import { openPool } from '../connect.ts';
import { countAccounts } from './directory.ts';

const isDirectoryThere = `select from pg_class where relname = 'directory_account' and pg_table_is_visible(oid)`;

/** A sentence about each cell where accounts live and that the settings do not name: a service would answer their requests with 500. */
export async function unnamedCells(
  directory: pg.Pool | pg.ClientBase,
  ids: readonly number[],
): Promise<string[]> {
  // An empty store, or one of an older version, has no directory.
  if ((await directory.query(isDirectoryThere)).rowCount === 0) return [];
  return [...(await countAccounts(directory))]
    .filter(([id]) => !ids.includes(id))
    .toSorted(([one], [other]) => one - other)
    .map(
      ([id, accounts]) =>
        `DBVITALS_CELLS_FILE does not name cell ${id}, where ${accounts === 1 ? 'an account lives' : `${accounts} accounts live`}: add it, or first move them with "account move ID --to CELL".`,
    );
}

/** The settings lack a cell where accounts live. The message says which. */
export class CellUnnamed extends Error {}

/** Throws {@link CellUnnamed} if the settings lack a cell. `directory` is a connection to the store of the directory; it only reads. */
export async function judgeNamedCells(
  directory: pg.Pool | pg.ClientBase,
  ids: readonly number[],
): Promise<void> {
  const [sentence] = await unnamedCells(directory, ids);
  if (sentence !== undefined) throw new CellUnnamed(sentence);
}

/** {@link judgeNamedCells} in the store of the directory. */
export async function requireNamedCells(control: StoreAddress, ids: readonly number[]): Promise<void> {
  const owner = openPool(control, 'owner', { max: 1 });
  await judgeNamedCells(owner, ids).finally(() => owner.end());
}
