import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { CellsFile } from '../config/cells-file.ts';
import type { StoreAddress } from '../config/store-url.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import type { CellChanges, CellPlace } from '../store/directory/cell-places.ts';
import type { Cells } from '../store/directory/open-cells.ts';
import { errorFields } from '../store/store-failure.ts';
import { reloadCells } from './reload-cells.ts';
import type { Reload } from './reload-on-hangup.ts';
import { ServedCell } from './served-cell.ts';

export type ServedList = readonly [ServedCell, ...ServedCell[]];

/** Uses these cells from now on. Returns what closes its pools on the others, once no request is under way there. */
type UseCells = (cells: ServedList) => () => Promise<unknown>;

type RoundParts = Parameters<ServedCell['startRounds']>[0];

/** How long a cell that was removed still ends what is under way, in milliseconds: longer than a request waits for a store. */
const LEAVING_MS = 3_000;

/** The cells of a service. Which they are may change while it runs. */
export class ServedCells {
  readonly #cells: Cells;
  readonly #log: Logger;
  readonly #serve: (place: CellPlace) => ServedCell;
  readonly #users: UseCells[] = [];
  readonly #leaving = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #list: ServedList;
  #startRounds: ((cell: ServedCell) => void) | null = null;

  /** `control` is a pool of the writer on the control store. */
  constructor(cells: Cells, parts: { control: pg.Pool; secret: SecretKeys; log: Logger }) {
    this.#cells = cells;
    this.#log = parts.log;
    this.#serve = (place) => new ServedCell(cells, place, parts);
    const [first, ...others] = cells.places;
    this.#list = [this.#serve(first), ...others.map(this.#serve)];
  }

  get list(): ServedList {
    return this.#list;
  }

  /** The stores of the open cells. */
  get storeAddresses(): readonly StoreAddress[] {
    return this.#list.flatMap(({ opened }) => (opened ? [opened.cell.store.address] : []));
  }

  /** Opens the cells at the start: see {@link ServedCell.open}. */
  async open(): Promise<void> {
    await Promise.all(this.#list.map((cell) => cell.open()));
  }

  /** Calls `use` whenever the cells change. */
  whenChanged(use: UseCells): void {
    this.#users.push(use);
  }

  /** Starts the rounds of the cells, and of those that come later. */
  startRounds(partsOf: (cell: ServedCell) => RoundParts): void {
    this.#startRounds = (cell) => cell.startRounds(partsOf(cell));
    this.#list.forEach(this.#startRounds);
  }

  /** Reads the file of the cells again with `read`: see {@link reloadCells}. */
  reloading(read: () => CellsFile | null): Reload {
    return reloadCells<ServedCell>(this.#cells, read, {
      open: async (place) => {
        const cell = this.#serve(place);
        await cell.requireOpen().catch(async (error: unknown) => {
          await cell.close();
          throw error;
        });
        return cell;
      },
      close: (cell) => cell.close(),
      change: (changes, opened) => this.#change(changes, opened),
    });
  }

  async stopRounds(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#list.map((cell) => cell.stopRounds()));
    await Promise.all(this.#leaving);
  }

  /** Call it after the rounds and the API have stopped. */
  async close(): Promise<void> {
    await Promise.all(this.#list.map((cell) => cell.close()));
  }

  #change({ places, removed }: CellChanges, opened: readonly ServedCell[]): void {
    const known = new Map([...this.#list, ...opened].map((cell) => [cell.place, cell]));
    const left = this.#list.filter(({ place }) => removed.includes(place));
    const [first, ...others] = places.flatMap((place) => known.get(place) ?? []);
    if (!first) return;
    this.#list = [first, ...others];
    const closeUnused = this.#users.map((use) => use(this.#list));
    if (this.#startRounds) opened.forEach(this.#startRounds);
    if (left.length === 0) return;
    const leaving = this.#leave(left, closeUnused)
      .catch((error) => this.#log.error(errorFields(error, this.#log), 'a removed cell could not be closed'))
      .finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }

  async #leave(cells: readonly ServedCell[], closeUnused: (() => Promise<unknown>)[]): Promise<void> {
    await Promise.all([
      wait(LEAVING_MS, undefined, { signal: this.#stopping.signal }).catch(() => {}),
      ...cells.map((cell) => cell.stopRounds()),
    ]);
    const isServed = ({ place }: ServedCell) => this.#list.some((cell) => cell.place.id === place.id);
    for (const cell of cells) if (!isServed(cell)) cell.forgetMetrics();
    await Promise.all(closeUnused.map((close) => close()));
    await Promise.all(cells.map((cell) => cell.close()));
  }
}
