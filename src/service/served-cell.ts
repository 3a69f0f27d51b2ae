import type pg from 'pg';
import type { Logger } from 'pino';
import type { CellAddress } from '../api/cells/api-cell.ts';
import { parsePoolerUrl } from '../config/store-url.ts';
import { requireOwnSecret, WrongSecretKey } from '../connections/rotate-secret-key.ts';
import type { SecretKeys } from '../platform/encryption.ts';
import type { RetentionMetrics } from '../platform/telemetry/retention-metrics.ts';
import { type CellPlace, cellLog } from '../store/directory/cell-places.ts';
import type { Cells } from '../store/directory/open-cells.ts';
import { requestAddress } from '../store/open.ts';
import { type CellParts, type CellRounds, startCellRounds } from './cell-rounds.ts';
import { openingFailures, openWorkingCell, retryOpening, type WorkingCell } from './working-cell.ts';

/** A cell of the service: its address for requests, and its rounds once its store is open. */
export class ServedCell {
  readonly place: CellPlace;
  /** For requests of the API. */
  readonly address: CellAddress;
  /** For the console, which never uses a pooler. */
  readonly consoleAddress: CellAddress;
  readonly #cells: Cells;
  readonly #control: pg.Pool;
  readonly #secret: SecretKeys;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  readonly #failed: (error: unknown) => void;
  #opened: WorkingCell | null = null;
  #hasSecret = false;
  #retrying: Promise<void> = Promise.resolve();
  #rounds: CellRounds | null = null;
  #retention: RetentionMetrics | null = null;

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
    this.#log = cellLog(place, log);
    this.#failed = openingFailures(this.#log, 'its requests get a 500');
    const { id, number, poolerUrl } = place;
    const address = cells.storeAddress(place);
    this.consoleAddress = {
      id,
      number,
      address,
      isOpen: () => this.#opened !== null,
      hasSecret: () => this.#hasSecret,
    };
    this.address =
      poolerUrl === null
        ? this.consoleAddress
        : { ...this.consoleAddress, address: parsePoolerUrl(poolerUrl) };
  }

  /** The open cell; null while it can't be opened. */
  get opened(): WorkingCell | null {
    return this.#opened;
  }

  /** Whether the secret key is the cell's. With another one its requests are answered, and nothing else is done for it. */
  get hasSecret(): boolean {
    return this.#hasSecret;
  }

  /** {@link open}, which must succeed. Throws a sentence. */
  async requireOpen(): Promise<void> {
    await this.#open();
  }

  /** Opens the cell. If it can't and there are others, these are served meanwhile, and `startRounds` tries again. */
  async open(): Promise<void> {
    try {
      await this.#open();
    } catch (error) {
      if (this.#cells.places.length === 1 && !(error instanceof WrongSecretKey)) throw error;
      this.#failed(error);
    }
  }

  /** Starts the rounds of the cell, at the latest when it can be opened and the secret key is its own. */
  startRounds(parts: Omit<CellParts, 'log' | 'secret' | 'control'>): void {
    this.#retention = parts.retention;
    const start = ({ cell, writer }: WorkingCell) => {
      const own = { ...parts, log: this.#log, secret: this.#secret, control: this.#control };
      this.#rounds = startCellRounds(this.#cells, cell, writer, own);
    };
    if (this.#opened && this.#hasSecret) start(this.#opened);
    else
      this.#retrying = retryOpening(() => this.#open(), this.#failed, this.#closing.signal).then((opened) => {
        if (!opened) return;
        this.#log.info('the store is open, and the secret key is its own');
        start(opened);
      });
  }

  /** Reports nothing more about the cell. Call it after `stopRounds`. */
  forgetMetrics(): void {
    this.#retention?.forget();
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
    const parts = { max: 6, control: this.#control, secret: this.#secret, log: this.#log };
    if (!this.#opened) {
      if (this.place.poolerUrl !== null)
        await requestAddress((await this.#cells.openPlace(this.place)).store, this.place);
      this.#opened = await openWorkingCell(this.#cells, this.place, parts);
    }
    await requireOwnSecret(this.#opened.cell.store.address, this.#secret);
    this.#hasSecret = true;
    return this.#opened;
  }
}
