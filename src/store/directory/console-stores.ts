import type pg from 'pg';
import type { Logger } from 'pino';
import { Rejection } from '../../platform/rejection.ts';
import { STORE_DEADLINE_MS } from '../connect.ts';
import { errorFields, isStoreFailure, StoreUnavailable } from '../store-failure.ts';
import { findAccountPlace } from './directory.ts';

/** The pools of the console on a store. Transactions of the writer also reach the control store. */
export interface ConsoleStore {
  readonly writer: pg.Pool;
  /** The console's own role, which only reads. */
  readonly reader: pg.Pool;
}

/**
 * Runs a change of an account, which uses one connection of the writer's pool, at the account's turn, so that no
 * account takes all connections of the others.
 */
export type ChangeInTurn = <T>(writer: pg.Pool, accountId: number, work: () => Promise<T>) => Promise<T>;

/** Where the console finds accounts, whose persons may act in several cells. */
export interface ConsoleStores {
  /** The store of an account. Throws a {@link Rejection} while the account is being moved. */
  of(accountId: number): Promise<ConsoleStore>;
  /**
   * Finds rows of accounts in every store. Rows of an account that lives elsewhere are left out: the owner of one cell can't
   * speak for an account of another. Where a cell fails or does not answer in {@link STORE_DEADLINE_MS}, its rows are missing; if
   * nothing was found then, throws its error.
   */
  inEach<Row extends { account_id: number }>(find: (store: ConsoleStore) => Promise<Row[]>): Promise<Row[]>;
}

/** The stores of a service with one store. */
export function oneStore(store: ConsoleStore): ConsoleStores {
  return { of: async () => store, inEach: (find) => find(store) };
}

/** A cell of several. */
export interface ConsoleCell extends ConsoleStore {
  readonly id: number;
  isOpen(): boolean;
}

/** The account is on its way to another cell. */
export const accountMoving = new Rejection(
  'conflict',
  'This account is being moved to another database. Try again in a minute.',
);

const selectHere = `
  select account_id from directory_account where account_id = any($1) and cell_id = $2 and state = 'here'`;

/**
 * Limits how long a cell delays what is asked of all cells. After a question that was not answered in time, later ones fail at
 * once until it has ended: else a frozen cell would delay each of them.
 */
function limitDelay({ id }: ConsoleCell) {
  let overdue = 0;
  return async <T>(question: () => Promise<T>): Promise<T> => {
    const silent = new StoreUnavailable(`cell ${id} does not answer`);
    if (overdue > 0) throw silent;
    const { promise: late, reject } = Promise.withResolvers<never>();
    let isOverdue = false;
    const timer = setTimeout(() => {
      isOverdue = true;
      overdue += 1;
      reject(silent);
    }, STORE_DEADLINE_MS);
    const answered = question().finally(() => {
      clearTimeout(timer);
      if (isOverdue) overdue -= 1;
    });
    return Promise.race([answered, late]);
  };
}

/** The stores of a service with several cells, those of the moment; `control` is a pool of the writer on the control store. */
export function severalStores(
  control: pg.Pool,
  cells: () => readonly ConsoleCell[],
  log: Pick<Logger, 'error' | 'isLevelEnabled'>,
): ConsoleStores {
  const limits = new WeakMap<ConsoleCell, ReturnType<typeof limitDelay>>();
  const inTime = (cell: ConsoleCell) => {
    const limit = limits.get(cell) ?? limitDelay(cell);
    limits.set(cell, limit);
    return limit;
  };
  const requireOpen = (cell: ConsoleCell): ConsoleCell => {
    if (cell.isOpen()) return cell;
    throw new StoreUnavailable(`cell ${cell.id} could not be opened since the start`);
  };
  async function livingHere<Row extends { account_id: number }>(
    cell: ConsoleCell,
    found: Row[],
  ): Promise<Row[]> {
    if (found.length === 0) return found;
    const ids = found.map(({ account_id }) => account_id);
    const { rows } = await control.query<{ account_id: number }>(selectHere, [ids, cell.id]);
    const here = new Set(rows.map(({ account_id }) => account_id));
    return found.filter(({ account_id }) => here.has(account_id));
  }
  return {
    async of(accountId) {
      const place = await findAccountPlace(control, accountId);
      const cell = cells().find(({ id }) => id === place?.cellId);
      if (!place || !cell) throw new Error(`no cell of the settings has account ${accountId}`);
      if (place.state === 'moving') throw accountMoving;
      return requireOpen(cell);
    },
    async inEach(find) {
      const asked = cells();
      const results = await Promise.allSettled(
        asked.map(async (cell) => livingHere(cell, await inTime(cell)(async () => find(requireOpen(cell))))),
      );
      const found = results.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
      for (const [at, one] of results.entries()) {
        if (one.status === 'fulfilled') continue;
        if (found.length === 0) throw one.reason;
        if (isStoreFailure(one.reason)) continue;
        const fields = { cell: asked[at]?.id, ...errorFields(one.reason, log) };
        log.error(fields, 'a cell fails: the console continues without its rows');
      }
      return found;
    },
  };
}
