import type pg from 'pg';
import type { CellsFile } from '../../config/cells-file.ts';
import { parseStoreUrl, type StoreAddress, type StoreRole } from '../../config/store-url.ts';
import { linkControl } from '../cells/control-store.ts';
import { openPool, type PoolOptions } from '../connect.ts';
import type { Say } from '../embedded.ts';
import { connectFailure, ONLY_STORE, type StoreWords } from '../link/store-connect-failure.ts';
import {
  type JoinedStore,
  joinStore,
  type Opening,
  type OpenStore,
  openStore,
  type WhenAbsent,
} from '../open.ts';
import { type CellChanges, type CellPlace, type CellPlaces, compareCells } from './cell-places.ts';
import { CONTROL_ONLY, claimCell, nameOf, requireCell, requireOnlyStore } from './claim-cell.ts';
import { type FilledDirectory, fillDirectory } from './fill-directory.ts';
import { CellUnnamed, judgeNamedCells } from './require-named-cells.ts';

/** A cell whose schema is up to date. */
export interface Cell extends CellPlace {
  readonly store: OpenStore;
}

/** The stores of the settings: usually one, which is its own control store. */
export interface Cells {
  /** In the order of the settings. `changeTo` replaces them. */
  readonly places: CellPlaces;
  /** What belongs to no account: the directory, logins, sessions. By default the store of the first cell. */
  readonly control: OpenStore;
  /** The store that says where accounts live, also for a single cell of a DBVITALS_CELLS_FILE. Null if there is only one store. */
  readonly directory: OpenStore | null;
  /** Whether the control store is no cell. */
  readonly hasOwnControl: boolean;
  /** The address of a cell's store, which may be down. */
  storeAddress(place: CellPlace): StoreAddress;
  /** Opens a cell, once. Throws a sentence if it can't be used; a later call tries again. */
  open(id: number): Promise<Cell>;
  /** {@link open} of a place, which need not be one of `places` yet. */
  openPlace(place: CellPlace): Promise<Cell>;
  /** What `places` become with a file that was read again. Throws a sentence if the service must be restarted for it. */
  compare(file: CellsFile): CellChanges;
  /** Makes these the places. The caller closes what uses the others. */
  changeTo(places: CellPlaces): void;
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
function cellPlaces({ cells, databaseUrl, poolerUrl, dataDir }: StoreSettings): CellPlaces {
  const [first, ...others] = (cells?.cells ?? []).map(({ url, ...cell }) => ({
    ...cell,
    number: cell.id,
    dataDir,
    databaseUrl: url,
    words: storeWords(cell.id),
  }));
  const only = { id: 1, number: null, databaseUrl, poolerUrl, dataDir, acceptsNew: true, words: ONLY_STORE };
  return [first ?? only, ...others];
}

/** Where the control store is. */
function controlPlace(settings: StoreSettings): Pick<CellPlace, 'databaseUrl' | 'dataDir' | 'words'> {
  const { controlUrl = null } = settings.cells ?? {};
  return controlUrl === null
    ? cellPlaces(settings)[0]
    : { databaseUrl: controlUrl, dataDir: settings.dataDir, words: storeWords(CONTROL_ONLY) };
}

/** What messages call one of several stores. */
function storeWords(cellId: number): StoreWords {
  return { store: nameOf(cellId), setting: 'DBVITALS_CELLS_FILE' };
}

/**
 * Opens one cell. To migrate it also makes its store that cell of the directory in `control` (null = in the store itself).
 * Throws a sentence, which names the cell if there are several.
 */
async function openCell(
  place: CellPlace,
  { cells }: StoreSettings,
  say: Say,
  opening: Opening,
  control: OpenStore | null,
  judge?: Judge,
): Promise<Cell> {
  try {
    const sayOfCell: Say = (step, level) => say(cells === null ? step : `Cell ${place.id}: ${step}`, level);
    const store = await openStore(place, sayOfCell, opening, judge);
    return await orClose(store, async () => {
      if (cells === null) requireOnlyStore(store.cellId);
      else {
        if (opening === 'use') await requireCell(store.address, place.id);
        else await claimCell(store.address, place.id, (owner) => fillFrom(control ?? store, place.id, owner));
      }
      return { ...place, store };
    });
  } catch (error) {
    throw cells === null || error instanceof CellUnnamed ? error : ofCell(place.id, error);
  }
}

/** May refuse a store before anything in it is changed. */
type Judge = Parameters<typeof openStore>[3];

/** Opens a control store that is no cell, and claims it or verifies that it is claimed. */
async function openOwnControl(
  settings: StoreSettings,
  say: Say,
  opening: Opening,
  judge?: Judge,
): Promise<OpenStore> {
  const store = await openStore(controlPlace(settings), say, opening, judge).catch((cause: unknown) => {
    const failure = connectFailure(cause, storeWords(CONTROL_ONLY));
    throw failure === null ? cause : new Error(failure, { cause });
  });
  return orClose(store, async () => {
    if (opening === 'use') await requireCell(store.address, CONTROL_ONLY);
    else await claimCell(store.address, CONTROL_ONLY);
    return store;
  });
}

/** Opens the control store of the settings, and each cell when it is needed. */
export async function openCells(settings: StoreSettings, say: Say, opening: Opening): Promise<Cells> {
  let places = cellPlaces(settings);
  const [first] = places;
  const opened = new Map<CellPlace, Cell>();
  const ids = places.map(({ id }) => id);
  // A service that can't serve every account must not migrate either: the old one could not start again.
  const judge: Judge =
    settings.cells && opening === 'migrate' ? (owner) => judgeNamedCells(owner, ids) : undefined;
  const own = hasOwnControl(settings) ? await openOwnControl(settings, say, opening, judge) : null;
  if (!own) opened.set(first, await openCell(first, settings, say, opening, null, judge));
  const control = own ?? opened.get(first)?.store;
  if (!control) throw new Error('no control store');
  const directory = settings.cells === null ? null : control;
  const openPlace = async (place: CellPlace): Promise<Cell> => {
    const known = opened.get(place);
    if (known) return known;
    const cell = await openCell(place, settings, say, opening, control);
    opened.set(place, cell);
    return cell;
  };
  return {
    get places() {
      return places;
    },
    control,
    directory,
    hasOwnControl: own !== null,
    storeAddress: (place) => opened.get(place)?.store.address ?? parseStoreUrl(place.databaseUrl ?? ''),
    async open(id) {
      const place = places.find((one) => one.id === id);
      if (!place) throw new Error(`DBVITALS_CELLS_FILE does not name cell ${id}: add it.`);
      return openPlace(place);
    },
    openPlace,
    compare(file) {
      requireSameControl(settings, file);
      return compareCells(places, cellPlaces({ ...settings, cells: file }));
    },
    changeTo(next) {
      for (const place of opened.keys()) if (!next.includes(place)) opened.delete(place);
      places = next;
    },
    openPool(cell, role, options, controlPool) {
      const pool = openPool(cell.store.address, role, options);
      const isControl = own === null && cell.id === first.id;
      if (directory) linkControl(pool, { cellId: cell.id, control: isControl ? null : controlPool });
      return pool;
    },
    async close() {
      for (const { store } of opened.values()) await store.close();
      await own?.close();
    },
  };
}

/** Where one store of the settings is. */
export interface NamedPlace extends Pick<CellPlace, 'databaseUrl' | 'dataDir' | 'poolerUrl' | 'words'> {
  /** For messages. */
  name: string;
  /** 0 = a control store that is no cell; null = the only store. */
  cellId: number | null;
}

/**
 * Where one store of the settings is: the control store's (0), or a cell's; null = the only one. Throws a sentence if the
 * settings do not name it, or name several and `cellId` is null.
 */
export function placeOf(settings: StoreSettings, cellId: number | null): NamedPlace {
  const places = cellPlaces(settings);
  const [first, ...others] = places;
  if (settings.cells === null) {
    if (cellId === null) return { ...first, name: 'the store', cellId: null };
    throw new Error('--cell needs DBVITALS_CELLS_FILE: there is only one store.');
  }
  if (cellId === CONTROL_ONLY) {
    if (hasOwnControl(settings))
      return { ...controlPlace(settings), poolerUrl: null, name: 'the control store', cellId: CONTROL_ONLY };
    throw new Error(`The control store is cell ${first.id}: name that one.`);
  }
  if (cellId === null && others.length > 0)
    throw new Error('There are several cells: say which one with --cell.');
  const place = places.find(({ id }) => id === (cellId ?? first.id));
  if (!place) throw new Error(`DBVITALS_CELLS_FILE does not name cell ${cellId}: add it.`);
  return { ...place, name: `cell ${place.id}`, cellId: place.id };
}

/** {@link joinStore} of a place that the settings name. A failure to connect names the place. */
export async function joinPlace(place: NamedPlace, say: Say, absent: WhenAbsent): Promise<JoinedStore> {
  try {
    return await joinStore(place, say, absent);
  } catch (cause) {
    const failure = place.cellId === null ? null : connectFailure(cause, place.words);
    throw failure === null ? cause : new Error(failure, { cause });
  }
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

/** Throws a sentence if a file that was read again leads to another control store: all pools on that one stay as they are. */
function requireSameControl(settings: StoreSettings, file: CellsFile): void {
  const next = { ...settings, cells: file };
  const isSame =
    hasOwnControl(settings) === hasOwnControl(next) &&
    controlPlace(settings).databaseUrl === controlPlace(next).databaseUrl;
  if (isSame) return;
  throw new Error(
    `${hasOwnControl(settings) ? 'control_url' : 'The url of the first cell, which is the control store,'} can't change while the process runs: restart it.`,
  );
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
  const message =
    connectFailure(cause, storeWords(id)) ?? (cause instanceof Error ? cause.message : 'unknown error');
  return new Error(`Cell ${id} can't be opened: ${message}`, { cause });
}
