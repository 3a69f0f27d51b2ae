import type pg from 'pg';
import type { Logger } from 'pino';
import type { CellPlace, Cells } from '../../cells/open-cells.ts';
import { parsePoolerUrl } from '../../database/connect.ts';
import type { SecretKeys } from '../../database/encryption.ts';
import { requestAddress } from '../../database/open.ts';
import type { CellAddress } from '../../server/cells/api-cell.ts';
import { type CellParts, type CellRounds, startCellRounds } from './cell-rounds.ts';
import { openingFailures, openWorkingCell, retryOpening, type WorkingCell } from './working-cell.ts';

/** A cell of the service: its address for requests, and its rounds once its store is open. */
export class ServedCell {
  readonly place: CellPlace;
  readonly address: CellAddress;
  readonly #cells: Cells;
  readonly #control: pg.Pool;
  readonly #secret: SecretKeys;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  readonly #failed: (error: unknown) => void;
  #opened: WorkingCell | null = null;
  #retrying: Promise<void> = Promise.resolve();
  #rounds: CellRounds | null = null;

  /** `control` is a pool of the writer on the control store. */
  constructor(
    cells: Cells,
    place: CellPlace,
    { control, secret, log }: { control: pg.Pool; secret: SecretKeys; log: Logger },
  ) {
    this.#cells = cells;
    this.place = place;
    this.#control = control;
    this.#secret = secret;
    this.#log = cells.hasDirectory ? log.child({ cell: place.id }) : log;
    this.#failed = openingFailures(this.#log, 'its requests get a 500');
    const { id, poolerUrl } = place;
    const address = poolerUrl === null ? cells.storeAddress(place) : parsePoolerUrl(poolerUrl);
    this.address = { id, address, isOpen: () => this.#opened !== null };
  }

  /** The open cell; null while it can't be opened. */
  get opened(): WorkingCell | null {
    return this.#opened;
  }

  /** Opens the cell. If it can't and there are others, these are served meanwhile, and `startRounds` tries again. */
  async open(): Promise<void> {
    try {
      await this.#open();
    } catch (error) {
      if (this.#cells.places.length === 1) throw error;
      this.#failed(error);
    }
  }

  /** Starts the rounds of the cell, at the latest when it can be opened. */
  startRounds(parts: Omit<CellParts, 'log' | 'secret' | 'control'>): void {
    const start = ({ cell, writer }: WorkingCell) => {
      const own = { ...parts, log: this.#log, secret: this.#secret, control: this.#control };
      this.#rounds = startCellRounds(this.#cells, cell, writer, own);
    };
    if (this.#opened) start(this.#opened);
    else
      this.#retrying = retryOpening(() => this.#open(), this.#failed, this.#closing.signal).then((opened) => {
        if (!opened) return;
        this.#log.info('the cell is open: its requests are answered');
        start(opened);
      });
  }

  async stopRounds(): Promise<void> {
    this.#closing.abort();
    await this.#retrying;
    await this.#rounds?.stop();
  }

  /** Call it after the rounds and the API have stopped. */
  async close(): Promise<void> {
    await this.#opened?.writer.end();
  }

  async #open(): Promise<WorkingCell> {
    const { id, poolerUrl } = this.place;
    const parts = { max: 6, control: this.#control, secret: this.#secret, log: this.#log };
    if (poolerUrl !== null) await requestAddress((await this.#cells.open(id)).store, poolerUrl);
    this.#opened = await openWorkingCell(this.#cells, id, parts);
    return this.#opened;
  }
}
