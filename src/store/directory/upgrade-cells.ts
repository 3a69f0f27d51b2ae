import type pg from 'pg';
import { openPool } from '../connect.ts';
import type { Say } from '../embedded.ts';
import { correctDirectory, skipKnownIds } from './correct-directory.ts';
import { fillDirectory } from './fill-directory.ts';
import { type Cells, openCells, type StoreSettings } from './open-cells.ts';

/**
 * Brings the schema of every store up to date, creates what does not exist yet, adds to the directory what it lacks, and
 * corrects where it leads to a cell that an account has left. A restored cell issues no id of an account again.
 * Returns the names of the applied migrations, with their store where there are several.
 */
export async function upgradeCells(settings: StoreSettings, say: Say): Promise<string[]> {
  const cells = await openCells(settings, say, 'migrate');
  try {
    const applied: string[] = [];
    for (const { id } of cells.places) {
      const { store } = await cells.open(id);
      if (!cells.directory) return store.applied;
      applied.push(...store.applied.map((name) => `${name} in cell ${id}`));
    }
    const inCells = (await Promise.all(cells.places.map(({ id }) => cells.open(id)))).map(
      ({ store }) => store,
    );
    if (!inCells.includes(cells.control))
      applied.unshift(...cells.control.applied.map((name) => `${name} in the control store`));
    await fillFromAll(cells);
    return applied;
  } finally {
    await cells.close();
  }
}

async function fillFromAll(cells: Cells): Promise<void> {
  const directory = openPool(cells.control.address, 'owner', { max: 1 });
  const owners: { id: number; client: pg.Pool }[] = [];
  try {
    for (const { id } of cells.places)
      owners.push({ id, client: openPool((await cells.open(id)).store.address, 'owner', { max: 1 }) });
    // First, because keys are added for accounts that live in their cell.
    await correctDirectory(directory, owners);
    for (const owner of owners) {
      await fillDirectory(directory, owner.client, owner.id);
      await skipKnownIds(directory, owner);
    }
  } finally {
    await Promise.all([directory.end(), ...owners.map(({ client }) => client.end())]);
  }
}
