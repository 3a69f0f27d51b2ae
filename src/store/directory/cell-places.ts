import type { Logger } from 'pino';
import type { StoreWords } from '../link/store-connect-failure.ts';

/** A cell's place in the settings. Its URLs contain passwords. */
export interface CellPlace {
  /** 1 to 255. */
  readonly id: number;
  /** What logs and metrics call it. Null if it is the only store: they do not name it. */
  readonly number: number | null;
  /** null = the embedded store in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  /** What messages call its store. */
  readonly words: StoreWords;
  /** null = no pooler. */
  readonly poolerUrl: string | null;
  readonly acceptsNew: boolean;
}

/** Where the cells of the settings are: at least one. */
export type CellPlaces = readonly [CellPlace, ...CellPlace[]];

/** The log of what concerns a cell. */
export function cellLog({ number }: Pick<CellPlace, 'number'>, log: Logger): Logger {
  return number === null ? log : log.child({ cell: number });
}

/** The label of a cell's metrics; none if there is one store. */
export function cellLabels({ number }: Pick<CellPlace, 'number'>): { readonly cell?: string } {
  return number === null ? {} : { cell: String(number) };
}

/** How the cells change. One whose URLs change is removed and added. */
export interface CellChanges {
  /** In the new order. A cell that stays is the same object as before. */
  readonly places: CellPlaces;
  readonly added: readonly CellPlace[];
  readonly removed: readonly CellPlace[];
}

/** What differs between the cells now and those of a file that was read again. */
export function compareCells(now: CellPlaces, next: CellPlaces): CellChanges {
  const keep = (place: CellPlace) => now.find((one) => isSame(one, place)) ?? place;
  const [first, ...others] = next;
  const places: CellPlaces = [keep(first), ...others.map(keep)];
  return {
    places,
    added: places.filter((place) => !now.includes(place)),
    removed: now.filter((place) => !places.includes(place)),
  };
}

// `acceptsNew` is for commands, which read the file at each start.
function isSame(one: CellPlace, other: CellPlace): boolean {
  return one.id === other.id && one.databaseUrl === other.databaseUrl && one.poolerUrl === other.poolerUrl;
}
