import { parseKey } from '../../platform/api-key.ts';
import type { KeyPlace } from '../../store/directory/directory.ts';
import type { KeyPlaces } from '../../store/directory/key-places.ts';
import { isStoreFailure, StoreUnavailable } from '../../store/store-failure.ts';
import type { StoreHealth } from '../../store/store-health.ts';
import { AccountAway } from '../gate/gate-errors.ts';
import {
  type DeadKey,
  ELSEWHERE,
  type FoundKey,
  hintOf,
  type Identity,
  type KeyHints,
} from '../gate/identify.ts';
import type { ApiCell } from './api-cell.ts';

/** Records that a lookup failed. */
interface Blamed {
  health: Pick<StoreHealth, 'failed'>;
}

/** The directory of several cells, and the health of the control store that it is in. */
export interface RoutedBy {
  readonly places: KeyPlaces;
  readonly health: StoreHealth;
}

/**
 * Finds the cell of a key. Without a directory it is the only one. With one, the directory's answer is a hint as any other:
 * the cell says whether it has the key and answers for its account.
 */
export class KeyRouter<Cell extends Pick<ApiCell, 'id' | 'isOpen' | 'health' | 'identifier'>> {
  #cells: ReadonlyMap<number, Cell> = new Map();
  #first: Cell;
  readonly #hints: KeyHints;
  readonly #directory: RoutedBy | null;

  constructor(cells: readonly [Cell, ...Cell[]], hints: KeyHints, directory: RoutedBy | null) {
    [this.#first] = cells;
    this.#hints = hints;
    this.#directory = directory;
    this.use(cells);
  }

  /** Asks these cells from now on. */
  use(cells: readonly [Cell, ...Cell[]]): void {
    this.#cells = new Map(cells.map((cell) => [cell.id, cell]));
    [this.#first] = cells;
  }

  /** Whether an error says that the account is not where it was looked for, which is ordinary where accounts move. */
  isAway(error: unknown): boolean {
    return this.#directory !== null && error instanceof AccountAway;
  }

  /** The hint from an earlier request with this token; undefined = none. */
  known(token: string): Identity | undefined {
    const hint = this.#hints.get(hintOf(token));
    // Its cell may have been removed since, when the account had left it.
    return hint && this.#cells.has(hint.cellId) ? hint : undefined;
  }

  /** Drops the hint of a key that its cell no longer accepts. */
  forget(token: string): void {
    this.#hints.delete(hintOf(token));
  }

  /** Whether the account of a key may live in another cell by now; then its hint is dropped. */
  mayHaveMoved(token: string): boolean {
    if (this.#directory !== null) this.forget(token);
    return this.#directory !== null;
  }

  /** The cell of an identity. */
  cellOf({ cellId }: Pick<Identity, 'cellId'>): Cell {
    return this.#cells.get(cellId) ?? this.#first;
  }

  /**
   * Asks the stores; null = the token is not a key. The key's hint gets its access as of now. Throws {@link AccountAway},
   * and what a store throws, after naming its health in `state`: an unknown key is refused only by a store that answers.
   */
  async find(token: string, state: Blamed): Promise<Identity | DeadKey | null> {
    if (!parseKey(token)) return null;
    if (this.#directory === null) return here(await ask(this.#first, token, state));
    const { places, health } = this.#directory;
    const hint = hintOf(token);
    // Works while the directory is down. What does not agree is asked there again.
    const known = places.known(hint);
    const cell = known?.state === 'here' ? this.#cells.get(known.cellId) : undefined;
    let place: KeyPlace | null | undefined;
    if (known && cell) {
      try {
        const found = await ask(cell, token, state);
        if (found !== null && found !== ELSEWHERE && found.accountId === known.accountId) return found;
      } catch (error) {
        if (!isStoreFailure(error)) throw error;
        // The account may have left the cell before that failed. If not, the cell is to blame, even if the directory fails too.
        place = await places.find(token).catch(() => null);
        if (place === null || place.cellId === cell.id) throw error;
      }
    }
    if (place === undefined) {
      state.health = health;
      place = await places.find(token);
    }
    if (place === null) return null;
    if (place.state === 'moving') {
      this.#hints.delete(hint);
      throw new AccountAway('the account is being moved');
    }
    return here(await this.#askCell(place, token, state));
  }

  async #askCell(
    { cellId, accountId }: { cellId: number; accountId: number },
    token: string,
    state: Blamed,
  ): Promise<FoundKey> {
    const cell = this.#cells.get(cellId);
    if (!cell)
      throw new Error(`DBVITALS_CELLS_FILE does not name cell ${cellId}, where account ${accountId} lives.`);
    const found = await ask(cell, token, state);
    if (found === null || found === ELSEWHERE || found.accountId === accountId) return found;
    this.#hints.delete(hintOf(token));
    // Someone altered one of the two stores.
    throw new Error(
      `The directory says that a key is of account ${accountId}, and cell ${cellId} that it is of another.`,
    );
  }
}

function ask(
  cell: Pick<ApiCell, 'id' | 'isOpen' | 'health' | 'identifier'>,
  token: string,
  state: Blamed,
): Promise<FoundKey> {
  state.health = cell.health;
  if (cell.isOpen()) return cell.identifier.find(token);
  return Promise.reject(new StoreUnavailable(`cell ${cell.id} could not be opened since the start`));
}

function here(found: FoundKey): Identity | DeadKey | null {
  if (found !== ELSEWHERE) return found;
  throw new AccountAway('the account lives in another cell');
}
