/**
 * What a part of the service opens for each cell, such as its pools, while the service changes which cells there are. `Cell` is
 * the object that stands for a cell.
 */
export class PerCell<Cell extends object, Part> {
  readonly #opened = new Map<Cell, Part>();
  readonly #leaving = new Set<Part>();
  readonly #open: (cell: Cell) => Part;
  readonly #close: (part: Part) => Promise<unknown>;

  constructor(open: (cell: Cell) => Part, close: (part: Part) => Promise<unknown>) {
    this.#open = open;
    this.#close = close;
  }

  /** The parts of the cells, in their order. */
  get all(): readonly Part[] {
    return [...this.#opened.values()];
  }

  /** Opens the parts of new cells. Returns what closes those of the cells that are no longer there: call it when nothing uses them. */
  use(cells: readonly Cell[]): () => Promise<void> {
    const before = new Map(this.#opened);
    this.#opened.clear();
    for (const cell of cells) this.#opened.set(cell, before.get(cell) ?? this.#open(cell));
    const left = [...before].filter(([cell]) => !this.#opened.has(cell)).map(([, part]) => part);
    for (const part of left) this.#leaving.add(part);
    return async () => void (await Promise.all(left.map((part) => this.#leave(part))));
  }

  /** Closes the parts of all cells. */
  async close(): Promise<void> {
    const parts = [...this.#opened.values(), ...this.#leaving];
    this.#leaving.clear();
    await Promise.all(parts.map(this.#close));
  }

  async #leave(part: Part): Promise<void> {
    if (this.#leaving.delete(part)) await this.#close(part);
  }
}
