import type pg from 'pg';
import type { CellsFile } from '../config/cells-file.ts';
import { linkControl } from '../database/cells/control-store.ts';
import {
  openPool,
  type PoolOptions,
  parseStoreUrl,
  type StoreAddress,
  type StoreRole,
} from '../database/connect.ts';
import type { Say } from '../database/embedded.ts';
import { type OpenStore, openStore, type WhenAbsent } from '../database/open.ts';
import { CONTROL_ONLY, claimCell, requireOnlyStore } from './claim-cell.ts';
import { type FilledDirectory, fillDirectory } from './fill-directory.ts';

/** A cell's place in the settings. Its URLs contain passwords. */
export interface CellPlace {
  /** 1 to 255. */
  readonly id: number;
  /** null = the embedded store in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  /** null = no pooler. */
  readonly poolerUrl: string | null;
  readonly acceptsNew: boolean;
}

/** A cell whose schema is up to date. */
export interface Cell extends CellPlace {
  readonly store: OpenStore;
}

/** The stores of the settings: usually one, which is its own control store. */
export interface Cells {
  /** In the order of the settings. */
  readonly places: readonly [CellPlace, ...CellPlace[]];
  /** What belongs to no account: the directory, logins, sessions. By default the store of the first cell. */
  readonly control: OpenStore;
  /** Whether there is a directory: also for a single cell of a DBVITALS_CELLS_FILE. */
  readonly hasDirectory: boolean;
  /** Whether the control store is no cell. */
  readonly hasOwnControl: boolean;
  /** The address of a cell's store, which may be down. */
  storeAddress(place: CellPlace): StoreAddress;
  /** Opens a cell, once. Throws a sentence if it can't be used; a later call tries again. */
  open(id: number): Promise<Cell>;
  /** Opens a pool of a cell, whose transactions also write to `control`, a pool on the control store. */
  openPool(cell: Cell, role: StoreRole, options: PoolOptions, control: pg.Pool): pg.Pool;
  /** Call it after all pools have ended. */
  close(): Promise<void>;
}

/** The settings that say where the stores are. */
export interface StoreSettings {
  readonly cells: CellsFile | null;
  readonly databaseUrl: string | null;
  readonly poolerUrl: string | null;
  readonly dataDir: string;
}

/** The cells of the settings: without DBVITALS_CELLS_FILE one, which is the store of DATABASE_URL or the embedded one. */
function cellPlaces({
  cells,
  databaseUrl,
  poolerUrl,
  dataDir,
}: StoreSettings): readonly [CellPlace, ...CellPlace[]] {
  const [first, ...others] = (cells?.cells ?? []).map(({ url, ...cell }) => ({
    ...cell,
    dataDir,
    databaseUrl: url,
  }));
  return [first ?? { id: 1, databaseUrl, poolerUrl, dataDir, acceptsNew: true }, ...others];
}

/** Where the control store is. */
function controlPlace(settings: StoreSettings): Pick<CellPlace, 'databaseUrl' | 'dataDir'> {
  const { controlUrl = null } = settings.cells ?? {};
  return controlUrl === null
    ? cellPlaces(settings)[0]
    : { databaseUrl: controlUrl, dataDir: settings.dataDir };
}

/**
 * Opens one cell, brings its schema up to date, and makes its store that cell of the directory in `control` (null = in the
 * store itself). Throws a sentence, which names the cell if there are several.
 */
async function openCell(
  place: CellPlace,
  { cells }: StoreSettings,
  say: Say,
  absent: WhenAbsent,
  control: OpenStore | null,
): Promise<Cell> {
  try {
    const store = await openStore(place, say, absent);
    return await orClose(store, async () => {
      if (cells === null) requireOnlyStore(store.cellId);
      else {
        store.description = store.description.replace('DATABASE_URL', `cell ${place.id}`);
        await claimCell(store.address, place.id, (owner) => fillFrom(control ?? store, place.id, owner));
      }
      return { ...place, store };
    });
  } catch (error) {
    throw cells === null ? error : ofCell(place.id, error);
  }
}

/** Opens a control store that is no cell, brings its schema up to date, and claims it. */
async function openOwnControl(settings: StoreSettings, say: Say, absent: WhenAbsent): Promise<OpenStore> {
  const store = await openStore(controlPlace(settings), say, absent);
  return orClose(store, async () => {
    await claimCell(store.address, CONTROL_ONLY);
    return store;
  });
}

/** Opens the control store of the settings, and each cell when it is needed. */
export async function openCells(settings: StoreSettings, say: Say, absent: WhenAbsent): Promise<Cells> {
  const places = cellPlaces(settings);
  const [first] = places;
  const opened = new Map<number, Cell>();
  const own = hasOwnControl(settings) ? await openOwnControl(settings, say, absent) : null;
  if (!own) opened.set(first.id, await openCell(first, settings, say, absent, null));
  const control = own ?? opened.get(first.id)?.store;
  if (!control) throw new Error('no control store');
  const hasDirectory = settings.cells !== null;
  return {
    ...{ places, control, hasDirectory, hasOwnControl: own !== null },
    storeAddress: ({ id, databaseUrl }) => opened.get(id)?.store.address ?? parseStoreUrl(databaseUrl ?? ''),
    async open(id) {
      const known = opened.get(id);
      if (known) return known;
      const place = places.find((one) => one.id === id);
      if (!place) throw new Error(`DBVITALS_CELLS_FILE does not name cell ${id}: add it.`);
      const cell = await openCell(place, settings, say, absent, control);
      opened.set(id, cell);
      return cell;
    },
    openPool(cell, role, options, controlPool) {
      const pool = openPool(cell.store.address, role, options);
      const isControl = cell.store === control;
      if (hasDirectory) linkControl(pool, { cellId: cell.id, control: isControl ? null : controlPool });
      return pool;
    },
    async close() {
      for (const { store } of opened.values()) await store.close();
      await own?.close();
    },
  };
}

/**
 * Where one store of the settings is: the control store's (0), or a cell's; null = the only one. Throws a sentence if the
 * settings do not name it, or name several and `cellId` is null.
 */
export function placeOf(
  settings: StoreSettings,
  cellId: number | null,
): Pick<CellPlace, 'databaseUrl' | 'dataDir' | 'poolerUrl'> & { name: string } {
  const places = cellPlaces(settings);
  const [first, ...others] = places;
  if (settings.cells === null) {
    if (cellId === null) return { ...first, name: 'the store' };
    throw new Error('--cell needs DBVITALS_CELLS_FILE: there is only one store.');
  }
  if (cellId === CONTROL_ONLY) {
    if (hasOwnControl(settings))
      return { ...controlPlace(settings), poolerUrl: null, name: 'the control store' };
    throw new Error(`The control store is cell ${first.id}: name that one.`);
  }
  if (cellId === null && others.length > 0)
    throw new Error('There are several cells: say which one with --cell.');
  const place = places.find(({ id }) => id === (cellId ?? first.id));
  if (!place) throw new Error(`DBVITALS_CELLS_FILE does not name cell ${cellId}: add it.`);
  return { ...place, name: `cell ${place.id}` };
}

/** The stores of the settings, the control store first if it is one of its own. */
export function storeNumbers(settings: StoreSettings): readonly (number | null)[] {
  if (settings.cells === null) return [null];
  const ids = settings.cells.cells.map(({ id }) => id);
  return hasOwnControl(settings) ? [CONTROL_ONLY, ...ids] : ids;
}

/** Whether the control store is a store of its own. */
function hasOwnControl({ cells }: StoreSettings): boolean {
  return cells !== null && cells.controlUrl !== null;
}

/** Adds to the directory in `control` what cell `id` has and it lacks. */
async function fillFrom(control: OpenStore, id: number, cell: pg.ClientBase): Promise<FilledDirectory> {
  const directory = openPool(control.address, 'owner', { max: 1 });
  return fillDirectory(directory, cell, id).finally(() => directory.end());
}

async function orClose<T>(store: OpenStore, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await store.close();
    throw error;
  }
}

function ofCell(id: number, cause: unknown): Error {
  const message = cause instanceof Error ? cause.message : 'unknown error';
  return new Error(`Cell ${id} can't be opened: ${message}`, { cause });
}
