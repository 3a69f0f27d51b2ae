import type { CellsFile } from '../config/cells-file.ts';
import type { CellChanges, CellPlace } from '../store/directory/cell-places.ts';
import type { Cells } from '../store/directory/open-cells.ts';
import { requireNamedCells } from '../store/directory/require-named-cells.ts';
import { requireNoArrivals } from '../store/directory/require-no-arrivals.ts';
import type { Reload } from './reload-on-hangup.ts';

/** How a process takes up a cell, and changes to other cells. */
interface CellUse<Opened> {
  /** Opens a new cell for the process. Throws a sentence if it can't be used now. */
  open(place: CellPlace): Promise<Opened>;
  /** Closes one that is not taken after all. */
  close(opened: Opened): Promise<unknown>;
  /** Uses these cells from now on. What is no longer used ends later. Must not fail. */
  change(changes: CellChanges, opened: readonly Opened[]): void;
}

/**
 * Reads the file of the cells again. The old list stays if the file can't be used, lacks a cell where accounts live or arrive, names
 * another control store, or names a new cell that can't be opened. `read` gives null if there is no such file.
 */
export function reloadCells<Opened>(
  cells: Cells,
  read: () => CellsFile | null,
  { open, close, change }: CellUse<Opened>,
): Reload {
  return {
    what: 'cells',
    async reload() {
      const file = read();
      if (file === null) return null;
      const changes = cells.compare(file);
      const { places, added, removed } = changes;
      if (added.length + removed.length === 0) return null;
      const ids = places.map(({ id }) => id);
      await requireNamedCells(cells.control.address, ids);
      for (const place of removed)
        if (!ids.includes(place.id)) await requireNoArrivals(cells.storeAddress(place), place.id);
      const opened: Opened[] = [];
      try {
        for (const place of added) opened.push(await open(place));
      } catch (error) {
        await Promise.all(opened.map(close));
        throw error;
      }
      cells.changeTo(places);
      change(changes, opened);
      return { cells: ids };
    },
  };
}
